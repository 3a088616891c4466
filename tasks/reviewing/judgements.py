"""What a reviewer says of a text: the two judgements of the paper's human evaluation (PV section 2.2)."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

MOST_COMMENT = 2000  # characters

_NAME = re.compile(r"\w[\w .-]{0,39}")


class Judgement(BaseModel):
    """Of one text by one reviewer; None where that question is not answered yet.

    Attributes:
        item: id of the text.
        natural: it reads as if a person had written it.
        coherent: its parts fit together.
        comment: optional.
        at: when it was said, with time zone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str
    natural: bool | None = None
    coherent: bool | None = None
    comment: str = Field(default="", max_length=MOST_COMMENT)
    at: datetime

    @property
    def complete(self) -> bool:
        """Both questions are answered."""
        return self.natural is not None and self.coherent is not None

    def says_as(self, other: "Judgement") -> bool:
        """Tell whether both say the same, whenever they were said."""
        return (self.item, self.natural, self.coherent, self.comment) == (
            other.item,
            other.natural,
            other.coherent,
            other.comment,
        )


def latest(judgements: Iterable[Judgement]) -> dict[str, Judgement]:
    """Return the last judgement of each item: one may change one's mind."""
    return {each.item: each for each in judgements}


def reviewer_name(name: str) -> str:
    """Return ``name`` as it is stored; a file is called after it.

    Raises:
        ValueError: it cannot be a reviewer's.
    """
    stored = unicodedata.normalize("NFC", name.strip())
    if _NAME.fullmatch(stored) is None:
        raise ValueError(f"{name!r}: a reviewer's name has 1 to 40 letters, digits, blanks, dots and hyphens")
    return stored
