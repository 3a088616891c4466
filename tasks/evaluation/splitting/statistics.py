"""What is in each split (PV sections 3.2 and 4.2): sizes, targets, lengths, how many attributes come in groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tasks.evaluation.splits import SPLITS, Split

COLUMNS = ("record_id", "targets", "words", "instruction_words")


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """Means over the triplets of a split.

    Attributes:
        targets: a triplet.
        grouped: of the attributes that are to go, the share in targets drawn as a group; None where there are none.
        instruction_words: of the request.
        words: of the original text.
    """

    split: Split
    records: int
    targets: float
    grouped: float | None
    instruction_words: float
    words: float


def statistics(triplets: Iterable[Mapping[str, Any]], splits: Mapping[str, Split]) -> tuple[SplitStatistics, ...]:
    """Summarise the ``COLUMNS`` of triplets by split, in the order of ``SPLITS``; empty splits are left out."""
    rows: dict[Split, list[Mapping[str, Any]]] = {split: [] for split in SPLITS}
    for triplet in triplets:
        if triplet["record_id"] in splits:
            rows[splits[triplet["record_id"]]].append(triplet)
    return tuple(_statistics(split, of_split) for split, of_split in rows.items() if of_split)


def _statistics(split: Split, rows: list[Mapping[str, Any]]) -> SplitStatistics:
    targets = [target for row in rows for target in row["targets"]]
    attributes = sum(len(target["attributes"]) for target in targets)
    grouped = sum(len(target["attributes"]) for target in targets if target["is_group"])
    return SplitStatistics(
        split=split,
        records=len(rows),
        targets=len(targets) / len(rows),
        grouped=grouped / attributes if attributes else None,
        instruction_words=sum(row["instruction_words"] for row in rows) / len(rows),
        words=sum(row["words"] for row in rows) / len(rows),
    )
