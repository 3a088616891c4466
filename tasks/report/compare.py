"""Record sets side by side, in the layouts of PV Tables 2, 8 and 9, with the paper's rows beside ours."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from tasks.report.figures import Diversity, Summary
from tasks.report.paper import PAPER, Reference

Source = Literal["ours", "paper", "human"]  # 'human': written by people, measured by the paper


@dataclass(frozen=True, slots=True)
class Column:
    """A metric.

    Attributes:
        field: of ``Row``, where it stands.
        heading: in full.
        short: for narrow places.
        digits: decimals shown.
        better: which way is more diverse.
    """

    field: str
    heading: str
    short: str
    digits: int
    better: Literal["higher", "lower", ""] = ""


_LEXICAL = (
    Column("records", "Records", "records", 0),
    Column("mattr", "MATTR", "MATTR", 3, "higher"),
    Column("bigram_diversity", "Bigram diversity", "bigrams", 3, "higher"),
    Column("entropy_bits", "Entropy, bits", "entropy", 3, "higher"),
    Column("cosine", "Cosine", "cosine", 3, "lower"),
)
_VENDI = Column("vendi", "Vendi", "Vendi", 1, "higher")
_WORDS = Column("words", "Words", "words", 1)


@dataclass(frozen=True, slots=True)
class Row:
    """A set of records, ours or the paper's; None where a figure is not known or cannot be measured."""

    name: str
    source: Source
    records: int | None
    mattr: float | None
    bigram_diversity: float | None
    entropy_bits: float | None
    cosine: float | None
    vendi: float | None
    words: float | None

    def value(self, column: Column) -> float | None:
        """Return the figure of a column."""
        figure: float | None = getattr(self, column.field)
        return figure


@dataclass(frozen=True, slots=True)
class Table:
    """One of the paper's tables, our rows added; the rows of a block belong together."""

    name: str
    title: str
    columns: tuple[Column, ...]
    blocks: tuple[tuple[Row, ...], ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, from top to bottom."""
        return tuple(row for block in self.blocks for row in block)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The three tables."""

    domains: Table
    models: Table
    pipelines: Table

    @property
    def tables(self) -> tuple[Table, ...]:
        """All three, in the paper's order."""
        return self.domains, self.models, self.pipelines


def compare(sets: Mapping[str, Summary]) -> Comparison:
    """Lay out sets by name, in the order given."""
    return Comparison(
        domains=Table("Table 2", "Domains", _LEXICAL, tuple(_domains(sets))),
        models=Table("Table 8", "Generating models", (*_LEXICAL, _VENDI, _WORDS), _models(sets)),
        pipelines=Table("Table 9", "Whole sets and ablations", (*_LEXICAL, _VENDI), _pipelines(sets)),
    )


def to_json(comparison: Comparison) -> str:
    """Write the tables for a program: rows by table, every figure under its name and unrounded."""
    rows = {table.name: [asdict(row) for row in table.rows] for table in comparison.tables}
    return json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False)


def _domains(sets: Mapping[str, Summary]) -> Iterator[tuple[Row, ...]]:
    """A block for each domain of Table 2, our rows last in it, then a block for the domains that only we have."""
    of_paper = dict.fromkeys(reference.domain for reference in PAPER.table2)
    for domain in of_paper:
        theirs = [_theirs(reference) for reference in PAPER.table2 if reference.domain == domain]
        yield (*theirs, *_of_domain(domain, sets))
    of_ours = dict.fromkeys(domain for summary in sets.values() for domain in summary.by_domain)
    yield tuple(row for domain in of_ours if domain not in of_paper for row in _of_domain(domain, sets))


def _of_domain(domain: str, sets: Mapping[str, Summary]) -> Iterator[Row]:
    for name, summary in sets.items():
        if domain in summary.by_domain:
            yield _ours(f"{name} · {domain}", summary.by_domain[domain])


def _models(sets: Mapping[str, Summary]) -> tuple[tuple[Row, ...], ...]:
    ours = tuple(
        _ours(f"{name} · {model}", diversity)
        for name, summary in sets.items()
        for model, diversity in summary.by_model.items()
    )
    return tuple(map(_theirs, PAPER.table8)), ours


def _pipelines(sets: Mapping[str, Summary]) -> tuple[tuple[Row, ...], ...]:
    return tuple(map(_theirs, PAPER.table9)), tuple(_ours(name, summary.whole) for name, summary in sets.items())


def _theirs(reference: Reference) -> Row:
    return Row(
        name=reference.name,
        source="human" if reference.human_written else "paper",
        records=reference.records,
        mattr=reference.mattr,
        bigram_diversity=reference.bigram_diversity,
        entropy_bits=reference.entropy_bits,
        cosine=reference.cosine,
        vendi=reference.vendi,
        words=reference.words,
    )


def _ours(name: str, diversity: Diversity) -> Row:
    return Row(
        name=name,
        source="ours",
        records=diversity.records,
        mattr=diversity.mattr,
        bigram_diversity=diversity.bigram_diversity,
        entropy_bits=diversity.entropy_bits,
        cosine=diversity.cosine,
        vendi=diversity.vendi,
        words=diversity.words,
    )
