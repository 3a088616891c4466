"""The rows of one shard, from what was read to outcomes: chats are rendered, equal texts scored once."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.surprise.documents import Chat, Document
from tasks.surprise.reading.input import Reject
from tasks.surprise.score_rows import Outcome, ScoredDocument
from tasks.surprise.scoring.scorer import Scored, Text

Render = Callable[[Chat], "Rendered"]


class ChatUnfit(Exception):
    """A chat that the reference model's template does not take; the message says why, without its text."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A document as it is scored, with what its chat template wrote."""

    document: Document
    text: Text


@dataclass(frozen=True)
class ShardRows:
    """Rows of a shard, ready to be scored.

    Attributes:
        rows: in the order of the input.
    """

    rows: tuple[Rendered | Reject, ...]

    @classmethod
    def of(cls, items: Sequence[Document | Chat | Reject], places: Sequence[str], render: Render) -> "ShardRows":
        """Render the chats; one that its template refuses is a reject.

        Args:
            items: as read.
            places: of each, for a reject.
            render: of the reference model.
        """
        return cls(tuple(_rendered(item, place, render) for item, place in zip(items, places, strict=True)))

    def texts(self) -> Counter[Text]:
        """Return the different texts, and in how many rows each stands."""
        return Counter(row.text for row in self.rows if isinstance(row, Rendered))

    def outcomes(self, scored: dict[Text, Scored]) -> list[Outcome]:
        """Put the scores to the rows."""
        return [row if isinstance(row, Reject) else ScoredDocument(row.document, scored[row.text]) for row in self.rows]


def _rendered(item: Document | Chat | Reject, place: str, render: Render) -> Rendered | Reject:
    match item:
        case Document():
            return Rendered(item, Text(item.text))
        case Chat():
            try:
                return render(item)
            except ChatUnfit as error:
                return Reject(item.id, place, "bad_chat", str(error))
        case Reject():
            return item
