"""One triplet, ready to be shown: the same for a page and a terminal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.sanitization.changes import Change, changes

DONE = {"abstract": "put in general terms", "drop": "taken out"}


@dataclass(frozen=True, slots=True)
class TargetView:
    """A target and its number, by which it is recognised where there is no colour.

    Attributes:
        done: what was done to it, in words.
        facts: its attributes as (key, value).
        instruction: by which it was done; empty where an earlier target had taken it along.
        chunks: how many were edited for it.
        leaks: values of it that still stand in the clean text.
    """

    number: int
    name: str
    done: str
    facts: tuple[tuple[str, str], ...]
    instruction: str
    chunks: int
    leaks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TripletView:
    """What is shown of a row of ``tasks.records.TRIPLETS``; ``kept`` are (key, value)."""

    record_id: str
    model: str
    language: str
    words: int
    sanitized_words: int
    instruction: str
    instruction_words: int
    verified: bool
    targets: tuple[TargetView, ...]
    kept: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]


def view(row: Mapping[str, Any]) -> TripletView:
    """Prepare a row of the triplets table."""
    return TripletView(
        record_id=row["record_id"],
        model=row["model"],
        language=row["language"],
        words=row["words"],
        sanitized_words=row["sanitized_words"],
        instruction=row["instruction"],
        instruction_words=row["instruction_words"],
        verified=row["verified"],
        targets=tuple(_target(row, place) for place in range(len(row["targets"]))),
        kept=tuple((each["key"], each["value"]) for each in row["retained"]),
        changes=tuple(changes(row)),
    )


def _target(row: Mapping[str, Any], place: int) -> TargetView:
    target = row["targets"][place]
    return TargetView(
        number=place + 1,
        name=target["name"],
        done=DONE[target["label"]],
        facts=tuple((each["key"], each["value"]) for each in target["attributes"]),
        instruction=next((work["instruction"] for work in target["passes"] if work["edits"]), ""),
        chunks=len({edit["chunk"] for each in target["passes"] for edit in each["edits"]}),
        leaks=tuple(leak["value"] for leak in row["leaks"] if leak["target"] == place),
    )
