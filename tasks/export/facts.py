"""What a data card says of an export, collected shard by shard."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks.evaluation.splits import Split
from tasks.evaluation.splitting.statistics import SplitStatistics, statistics
from tasks.export.rows import split_of


@dataclass(frozen=True, slots=True)
class Facts:
    """The figures of an export.

    Attributes:
        is_split: whether its parts were decided by ``privasis split``.
        splits: what is in each part.
        unverified: triplets that are in no part, for a value of a target is left in the clean text.
        left_out: triplets that are in no part for another reason.
        rejected: records that did not become triplets, by reason.
        writers: of the records, and how many each wrote.
        sanitizers: of the triplets, likewise.
        labels: targets put in general terms and taken out.
        groups: targets that are groups.
        targets: all of them.
        seeds: of the runs.
        versions: of the software.
        newest: when the last shard was finished.
    """

    name: str
    is_split: bool
    splits: tuple[SplitStatistics, ...]
    unverified: int
    left_out: int
    rejected: Mapping[str, int]
    writers: Mapping[str, int]
    sanitizers: Mapping[str, int]
    languages: Mapping[str, int]
    labels: Mapping[str, int]
    groups: int
    targets: int
    calls: int
    tokens: int
    cost_usd: float
    seeds: tuple[str, ...]
    versions: Mapping[str, str]
    newest: str

    @property
    def triplets(self) -> int:
        """Rows exported, all parts together."""
        return sum(split.records for split in self.splits)


@dataclass
class Tally:
    """Counts triplets as they are exported; keeps a few numbers of each, and none of its text."""

    splits: Mapping[str, Split] | None
    unverified: int = 0
    left_out: int = 0
    sanitizers: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    groups: int = 0
    _narrow: list[Mapping[str, Any]] = field(default_factory=list)
    _parts: dict[str, Split] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one row of the triplets table."""
        split = split_of(row, self.splits)
        if split is None:
            self.unverified += not row["verified"]
            self.left_out += row["verified"]
            return
        self.sanitizers[row["model"]] += 1
        self.languages[row["language"]] += 1
        self.labels.update(target["label"] for target in row["targets"])
        self.groups += sum(target["is_group"] for target in row["targets"])
        self._parts[row["record_id"]] = split
        targets = [
            {"is_group": target["is_group"], "attributes": range(len(target["attributes"]))}
            for target in row["targets"]
        ]
        self._narrow.append(
            {name: row[name] for name in ("record_id", "words", "instruction_words")} | {"targets": targets}
        )

    def statistics(self) -> tuple[SplitStatistics, ...]:
        """Summarise the parts."""
        return statistics(self._narrow, self._parts)
