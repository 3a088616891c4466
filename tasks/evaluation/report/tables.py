"""Our figures and the paper's, side by side, in the layouts of its Tables 4, 5, 6 and 10."""

from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class TopTable:
    """The largest shares of failures of one set, the paper's rows first where it has any."""

    title: str
    blocks: tuple[TopBlock, ...]


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
                Rate(each.share if _leaks(sets[name]) else None, each.low, each.high, _leaks(sets[name]))
                for each in sets[name].leak_types
            ),
        )
        for evaluation, sets in evaluations.items()
        if name in sets
    )


def _leaks(scores: Scores) -> int:
    return sum(each.count for each in scores.leak_types)


def table6(evaluations: Mapping[str, Sets]) -> tuple[TopTable, ...]:
    """Return PV Table 6 for every set: the categories of records that leak most often."""
    return _tops(evaluations, PAPER.table6, lambda scores: scores.domains)


def table10(evaluations: Mapping[str, Sets]) -> tuple[TopTable, ...]:
    """Return PV Table 10 for every set: the attributes that leak most often."""
    return _tops(evaluations, PAPER.table10, lambda scores: scores.keys)


def _tops(
    evaluations: Mapping[str, Sets], theirs: Sequence[TopRow], top: Callable[[Scores], tuple[Share, ...]]
) -> tuple[TopTable, ...]:
    """Lay out each set; the paper's rows stand with the vanilla test, which they are of, or with what there is."""
    names = [name for name in TITLES if any(name in sets for sets in evaluations.values())]
    beside = "vanilla" if "vanilla" in names else "all"
    return tuple(
        TopTable(
            TITLES[name],
            (
                *(_theirs_top(theirs) if name == beside else ()),
                *(TopBlock(each, "ours", top(sets[name])) for each, sets in evaluations.items() if name in sets),
            ),
        )
        for name in names
    )


def _theirs_top(rows: Sequence[TopRow]) -> tuple[TopBlock, ...]:
    return tuple(
        TopBlock(row.name, "paper", tuple(Share(part.name, 0, part.percent / 100) for part in row.top)) for row in rows
    )


def _known(percent: float) -> Rate:
    return Rate(percent / 100, None, None, 0)
