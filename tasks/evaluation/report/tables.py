"""Our figures and the paper's, side by side, in the layouts of its Tables 4, 5, 6 and 10."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.evaluation.bootstrap import Rate
from tasks.evaluation.figures import Scores, Share
from tasks.evaluation.report.paper import PAPER, TopRow

Source = Literal["ours", "paper"]
Sets = Mapping[str, Scores]

HEADINGS = {
    "attribute": "Sanitized, attributes",
    "attribute_per_record": "Sanitized, attributes a record",
    "record": "Sanitized, records",
    "kept_attribute": "Retained, attributes",
    "kept_per_record": "Retained, attributes a record",
    "kept_record": "Retained, records",
    "full_record": "Full success, records",
}
LEAK_HEADINGS = {"direct": "Direct", "inference": "Inference", "proximity": "Proximity"}
TITLES = {"all": "All records", "vanilla": "Vanilla test", "hard": "Hard test"}


@dataclass(frozen=True, slots=True)
class Row:
    """A sanitizer and its figures."""

    name: str
    source: Source
    records: int | None
    rates: tuple[Rate, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One table: a set of records, the paper's rows for it first."""

    set: str
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class TopBlock:
    """One sanitizer's largest shares of failures."""

    name: str
    source: Source
    top: tuple[Share, ...]


def table4(evaluations: Mapping[str, Sets], *, without_short: bool = False) -> tuple[Block, ...]:
    """Return PV Table 4 for every set that any of ``evaluations`` (name -> figures by set) has."""
    return tuple(
        Block(name, title, (*_theirs4(name), *_ours4(name, evaluations, without_short=without_short)))
        for name, title in TITLES.items()
        if any(name in sets for sets in evaluations.values())
    )


def _theirs4(name: str) -> tuple[Row, ...]:
    return tuple(
        Row(row.name, "paper", None, tuple(_known(getattr(row, column)) for column in HEADINGS))
        for row in PAPER.table4
        if row.set == name
    )


def _ours4(name: str, evaluations: Mapping[str, Sets], *, without_short: bool) -> tuple[Row, ...]:
    return tuple(
        Row(
            evaluation,
            "ours",
            sets[name].records,
            tuple(
                getattr(sets[name].without_short if without_short else sets[name].table4, column) for column in HEADINGS
            ),
        )
        for evaluation, sets in evaluations.items()
        if name in sets
    )


def table5(evaluations: Mapping[str, Sets]) -> tuple[Block, ...]:
    """Return PV Table 5 for every set; the paper has it for the vanilla test only."""
    theirs = tuple(
        Row(row.name, "paper", None, tuple(_known(getattr(row, kind)) for kind in LEAK_HEADINGS))
        for row in PAPER.table5
    )
    return tuple(
        Block(name, title, (*(theirs if name == "vanilla" else ()), *_ours5(name, evaluations)))
        for name, title in TITLES.items()
        if any(name in sets for sets in evaluations.values())
    )


def _ours5(name: str, evaluations: Mapping[str, Sets]) -> tuple[Row, ...]:
    return tuple(
        Row(
            evaluation,
            "ours",
            sets[name].records,
            tuple(
                Rate(each.share if each.count or _leaks(sets[name]) else None, None, None, _leaks(sets[name]))
                for each in sets[name].leak_types
            ),
        )
        for evaluation, sets in evaluations.items()
        if name in sets
    )


def _leaks(scores: Scores) -> int:
    return sum(each.count for each in scores.leak_types)


def table6(evaluations: Mapping[str, Sets]) -> tuple[TopBlock, ...]:
    """Return PV Table 6: the categories of records that leak most often."""
    return (*_theirs_top(PAPER.table6), *_ours_top({name: _main(sets).domains for name, sets in evaluations.items()}))


def table10(evaluations: Mapping[str, Sets]) -> tuple[TopBlock, ...]:
    """Return PV Table 10: the attributes that leak most often."""
    return (*_theirs_top(PAPER.table10), *_ours_top({name: _main(sets).keys for name, sets in evaluations.items()}))


def _main(sets: Sets) -> Scores:
    return sets.get("vanilla", sets["all"])


def _theirs_top(rows: Sequence[TopRow]) -> tuple[TopBlock, ...]:
    return tuple(
        TopBlock(row.name, "paper", tuple(Share(part.name, 0, part.percent / 100) for part in row.top)) for row in rows
    )


def _ours_top(tops: Mapping[str, tuple[Share, ...]]) -> tuple[TopBlock, ...]:
    return tuple(TopBlock(name, "ours", top) for name, top in tops.items())


def _known(percent: float) -> Rate:
    return Rate(percent / 100, None, None, 0)
