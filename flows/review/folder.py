"""Where a review keeps what: the sheet, its reviewers and their judgements in a folder, the key beside it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from flows.review.log import JudgementLog
from infra.shards import files
from tasks.cleaning.private_file import private_file
from tasks.reviewing.judgements import Judgement, latest
from tasks.reviewing.sheet import Key, Sheet, SheetUnfit

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ReviewFolder:
    """One review.

    Attributes:
        path: its folder; what is in it tells nobody where a text comes from.
    """

    path: Path

    @property
    def sheet_file(self) -> Path:
        """The texts."""
        return self.path / "sheet.json"

    @property
    def key_file(self) -> Path:
        """The key, where nobody said another place: beside the folder, so that the folder may be given away."""
        return self.path.with_name(f"{self.path.name}.key.json")

    @property
    def reviewers_file(self) -> Path:
        """Names and tokens."""
        return self.path / "reviewers.json"

    @property
    def log(self) -> JudgementLog:
        """All judgements."""
        return JudgementLog(self.path / "judgements")

    def create(self, sheet: Sheet, key: Key, key_file: Path) -> None:
        """Write a new review; the sheet comes last: a folder without one is none yet.

        Raises:
            SheetUnfit: there is one already.
        """
        for path in (self.sheet_file, key_file):
            if path.exists():
                raise SheetUnfit(f"{path}: is there already: name another --output, or move it away")
        for path, stored in ((key_file, key), (self.sheet_file, sheet)):
            files.make_directory(path.parent)
            with private_file(path) as file:
                file.write(stored.model_dump_json(indent=1))

    def sheet(self) -> Sheet:
        """Read the sheet.

        Raises:
            SheetUnfit: there is none, or it is damaged.
        """
        return _read(self.sheet_file, Sheet, "`privasis review make` makes one")

    def judgements(self, reviewers: Iterable[str]) -> dict[str, dict[str, Judgement]]:
        """Return the latest judgements by reviewer and text."""
        log = self.log
        return {name: latest(log.read(name)) for name in reviewers}


def read_key(path: Path) -> Key:
    """Read a key.

    Raises:
        SheetUnfit: there is none, or it is damaged.
    """
    return _read(path, Key, "name it with --key")


def _read(path: Path, model: type[M], advice: str) -> M:
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise SheetUnfit(f"{path}: no such file: {advice}") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise SheetUnfit(f"{path}: damaged: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
