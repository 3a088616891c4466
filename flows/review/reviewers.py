"""Who reviews: names, and the token by which the page knows who somebody is."""

import secrets
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.cleaning.private_file import private_file
from tasks.reviewing.judgements import reviewer_name
from tasks.reviewing.sheet import SheetUnfit

_TOKEN_BYTES = 18


def _token() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Reviewers(BaseModel):
    """All reviewers of a sheet; the file that holds them is for its owner alone.

    Attributes:
        door: token without which nobody from another machine sees even the page.
        tokens: reviewer -> token.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    door: str = Field(default_factory=_token)
    tokens: dict[str, str] = Field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(sorted(self.tokens, key=lambda name: (name.casefold(), name)))

    def joined_by(self, names: Iterable[str]) -> "Reviewers":
        """Return these and ``names``, each new one with a token of its own.

        Raises:
            SheetUnfit: a name cannot be a reviewer's, or differs from another by case alone.
        """
        tokens = dict(self.tokens)
        for name in names:
            try:
                stored = reviewer_name(name)
            except ValueError as error:
                raise SheetUnfit(str(error)) from error
            twin = next((each for each in tokens if each.casefold() == stored.casefold()), stored)
            if twin != stored:
                raise SheetUnfit(f"{stored}: there is a reviewer {twin} already: write it so, or take another name")
            tokens.setdefault(stored, _token())
        return Reviewers(door=self.door, tokens=tokens)

    def who_shows(self, token: str) -> str | None:
        """Return whose token it is, in a time that tells nothing of the tokens."""
        shown = token.encode("utf-8", "surrogatepass")
        matches = [name for name, each in self.tokens.items() if secrets.compare_digest(each.encode(), shown)]
        return matches[0] if matches else None


def read_reviewers(path: Path) -> Reviewers:
    """Read the reviewers at ``path``; nobody where there is no such file.

    Raises:
        SheetUnfit: it is damaged.
    """
    try:
        return Reviewers.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Reviewers()
    except ValidationError:
        raise SheetUnfit(f"{path}: damaged: move it away; all reviewers get new links") from None


def with_reviewers(path: Path, names: Iterable[str]) -> Reviewers:
    """Add reviewers to those at ``path``, and return all.

    Raises:
        SheetUnfit: a name cannot be taken, or the file is damaged.
    """
    before = read_reviewers(path)
    after = before.joined_by(names)
    if after != before or not path.exists():
        with private_file(path) as file:
            file.write(after.model_dump_json(indent=1))
    return after
