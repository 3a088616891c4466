"""How each table is listed, filtered and searched. A row that is shown whole has a page of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from flows.browse.stages import STAGE_OF, STAGES
from tasks.browse.judged import outcome_of
from tasks.report.formats import count, usd

Row = Mapping[str, Any]
PLAIN = 6  # columns of a table without a list of its own


@dataclass(frozen=True, slots=True)
class Facet:
    """Something to filter by: its name in the index, what it is called, and its value of a row."""

    name: str
    label: str
    value: Callable[[Row], str | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list; ``narrow`` ones stay on a small screen."""

    heading: str
    value: Callable[[Row], str]
    number: bool = False
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A table.

    Attributes:
        title: what it is called, in the plural.
        one: one row of it.
        id_column: of its rows.
        heading: the line of a row that leads to its page.
        text: what is looked through by full-text search, and of which the list shows a line.
        size, size_label: how long a row is, and in what.
        columns: of the list, beside heading and line.
        facets: to filter by.
        names, names_label: what else a row is about, and what that is called; empty for nothing.
        listed: columns of the table that heading, line and ``columns`` are made of.
        told: columns that the index is made of.
    """

    table: str
    title: str
    one: str
    id_column: str
    heading: Callable[[Row], str]
    text: Callable[[Row], str]
    columns: tuple[Column, ...]
    listed: tuple[str, ...]
    told: tuple[str, ...] = ()
    facets: tuple[Facet, ...] = ()
    size: Callable[[Row], int] = lambda row: 0
    size_label: str = ""
    names: Callable[[Row], str] = lambda row: ""
    names_label: str = ""

    @property
    def searchable(self) -> bool:
        """Whether there is an index of it."""
        return bool(self.told)


def _of(column: str) -> Callable[[Row], Any]:
    return lambda row: row[column]


def _facet(name: str, label: str, column: str | None = None) -> Facet:
    return Facet(name, label, _of(column or name))


def _joined(parts: Iterable[str | None]) -> str:
    return "\n".join(part for part in parts if part)


def _number(heading: str, column: str, *, narrow: bool = False) -> Column:
    return Column(heading, lambda row: count(row[column]), number=True, narrow=narrow)


def _words(heading: str, column: str) -> Column:
    return Column(heading, lambda row: row[column] or "–")


_COST = Column("Cost", lambda row: usd(row["cost_usd"]), number=True)
_MODEL, _LANGUAGE = _facet("model", "Model"), _facet("language", "Language")

_RECORDS = Kind(
    table="records",
    title="Records",
    one="record",
    id_column="record_id",
    heading=lambda row: row["record_type"] or row["domain"] or row["record_id"],
    text=_of("text"),
    columns=(
        _words("Label", "domain"),
        _number("Words", "words", narrow=True),
        Column("Groups", lambda row: count(len(row["groups"])), number=True),
        _words("Language", "language"),
        _words("Model", "model"),
    ),
    listed=("record_id", "index", "record_type", "domain", "text", "words", "groups", "language", "model"),
    told=("record_id", "index", "record_type", "domain", "text", "words", "groups", "language", "model"),
    facets=(_facet("type", "Type", "record_type"), _facet("domain", "Label"), _MODEL, _LANGUAGE),
    size=_of("words"),
    size_label="words",
    names=lambda row: _joined(name for group in row["groups"] for name in (group["name"], *(group["keys"] or ()))),
    names_label="Group or attribute",
)


def _rejects(table: str, title: str) -> Kind:
    return Kind(
        table=table,
        title=title,
        one="reject",
        id_column="record_id",
        heading=_of("reason"),
        text=lambda row: _joined((row["detail"], row["last_reply"])),
        columns=(
            Column("Step", _of("step"), narrow=True),
            _words("Outcome", "outcome"),
            _words("Model", "model"),
            _number("Calls", "calls"),
            _COST,
        ),
        listed=(
            "record_id",
            "index",
            "reason",
            "step",
            "outcome",
            "model",
            "calls",
            "cost_usd",
            "detail",
            "last_reply",
        ),
        told=("record_id", "index", "reason", "step", "outcome", "model", "language", "calls", "detail", "last_reply"),
        facets=(_facet("reason", "Reason"), _facet("step", "Step"), _facet("outcome", "Outcome"), _MODEL, _LANGUAGE),
        size=_of("calls"),
        size_label="calls",
    )


_TRIPLETS = Kind(
    table="triplets",
    title="Triplets",
    one="triplet",
    id_column="record_id",
    heading=_of("instruction"),
    text=lambda row: _joined((row["text"], row["instruction"], row["sanitized"])),
    columns=(
        Column("", lambda row: "no value left" if row["verified"] else "a value is left", narrow=True),
        Column("Targets", lambda row: count(len(row["targets"])), number=True),
        _number("Words", "words"),
        _number("After", "sanitized_words"),
        _words("Model", "model"),
    ),
    listed=(
        *("record_id", "index", "instruction", "text", "sanitized", "verified", "targets", "words"),
        *("sanitized_words", "model"),
    ),
    told=(
        *("record_id", "index", "instruction", "text", "sanitized", "verified", "targets", "words"),
        *("model", "language"),
    ),
    facets=(
        Facet("left", "Values left", lambda row: "none" if row["verified"] else "some"),
        Facet("label", "A target is", lambda row: _only(each["label"] for each in row["targets"])),
        _MODEL,
        _LANGUAGE,
    ),
    size=_of("words"),
    size_label="words",
    names=lambda row: _joined(
        name for each in row["targets"] for name in (each["name"], *(fact["key"] for fact in each["attributes"]))
    ),
    names_label="Target",
)


def _only(values: Iterable[str]) -> str:
    """Return the one value there is, or that there are several."""
    found = sorted(set(values))
    return found[0] if len(found) == 1 else " and ".join(found) or "none"


_SCORES = Kind(
    table="scores",
    title="Scored texts",
    one="scored text",
    id_column="document_id",
    heading=_of("document_id"),
    text=_of("text"),
    columns=(
        _number("Characters", "covered", narrow=True),
        Column("Labels", lambda row: count(len(row["labels"])) if row["labelled"] else "–", number=True),
        _words("Group", "group"),
    ),
    listed=("document_id", "index", "text", "covered", "labels", "labelled", "group"),
    told=("document_id", "index", "text", "covered", "labels", "labelled", "strata"),
    facets=(Facet("labelled", "Labelled", lambda row: "yes" if row["labelled"] else "no"),),
    size=_of("covered"),
    size_label="characters",
    names=lambda row: _joined(
        (*(each["category"] for each in row["labels"]), *(f"{each['name']} {each['value']}" for each in row["strata"]))
    ),
    names_label="Label or stratum",
)

_SCORE_REJECTS = Kind(
    table="score_rejects",
    title="Unscored rows",
    one="unscored row",
    id_column="document_id",
    heading=_of("reason"),
    text=_of("detail"),
    columns=(Column("Place", _of("place"), narrow=True),),
    listed=("document_id", "index", "reason", "detail", "place"),
    told=("document_id", "index", "reason", "detail", "place"),
    facets=(_facet("reason", "Reason"),),
)

_EVALUATIONS = Kind(
    table="evaluations",
    title="Judged texts",
    one="judged text",
    id_column="record_id",
    heading=_of("instruction"),
    text=lambda row: _joined((row["instruction"], row["sanitized"])),
    columns=(
        Column("Outcome", outcome_of, narrow=True),
        Column("To go", lambda row: count(len(row["targets"])), number=True),
        Column("Leaks", lambda row: count(_failed(row, "targets", "safe")), number=True, narrow=True),
        Column("To stay", lambda row: count(len(row["retained"])), number=True),
        Column("Lost", lambda row: count(_failed(row, "retained", "exact", "guessed", "present")), number=True),
        _words("Label", "domain"),
    ),
    listed=("record_id", "index", "instruction", "sanitized", "targets", "retained", "domain"),
    told=("record_id", "index", "instruction", "sanitized", "targets", "retained", "domain", "language"),
    facets=(Facet("outcome", "Outcome", outcome_of), _facet("domain", "Label"), _LANGUAGE),
    size=lambda row: _failed(row, "targets", "safe"),
    size_label="leaks",
    names=lambda row: _joined(each["key"] for facts in ("targets", "retained") for each in row[facts]),
    names_label="Attribute",
)


def _failed(row: Row, facts: str, *good: str) -> int:
    return sum(each["outcome"] not in good for each in row[facts])


def _plain(table: str, title: str, facets: Sequence[Facet] = (), id_column: str = "record_id") -> Kind:
    """Describe a table of which a list shows the first simple columns."""
    schema = STAGES[STAGE_OF[table]][table]
    simple = [field.name for field in schema if _is_simple(field.type) and field.name not in (id_column, "index")]
    shown = simple[:PLAIN]
    columns = tuple(
        Column(name.replace("_", " ").capitalize(), _shown(name), narrow=not at) for at, name in enumerate(shown)
    )
    told = (id_column, "index", *(facet.name for facet in facets)) if facets else ()
    return Kind(
        table=table,
        title=title,
        one="row",
        id_column=id_column,
        heading=_of(id_column),
        text=lambda row: "",
        columns=columns,
        listed=(id_column, "index", *shown),
        told=told,
        facets=tuple(facets),
    )


def _is_simple(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    return any(test(kind) for test in tests)


def _shown(column: str) -> Callable[[Row], str]:
    def shown(row: Row) -> str:
        value = row[column]
        if isinstance(value, str):
            return value if len(value) <= 80 else f"{value[:79]}…"
        return "–" if value is None else f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"

    return shown


KINDS: Mapping[str, Kind] = {
    kind.table: kind
    for kind in (
        _RECORDS,
        _rejects("rejects", "Rejects"),
        _TRIPLETS,
        _rejects("triplet_rejects", "Triplet rejects"),
        _EVALUATIONS,
        _plain("splits", "Splits", (_facet("split", "Split"), _facet("reason", "Reason"))),
        _plain("nap2", "NaP² rows", (_facet("outcome", "Outcome"),), "row_id"),
        _SCORES,
        _SCORE_REJECTS,
        _plain("selected", "Selections", (), "document_id"),
        _plain("masks", "Masks", (), "document_id"),
        _plain("redacted", "Redacted texts", (), "document_id"),
        _plain("ranks", "Ranked sentences", (), "document_id"),
        _plain("routed", "Routed texts", (_facet("intervention", "Intervention"),), "row_id"),
    )
}
