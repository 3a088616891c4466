"""What the pages about data sets, shards and lists show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from starlette.datastructures import QueryParams

from flows.browse.asked import AddressUnusable, Asked
from flows.browse.catalog import Catalog, NotThere, Stage, above
from flows.browse.kinds import KINDS, Kind
from flows.browse.listing import PAGE_ROWS, UNREADABLE, Found, Listed
from infra.search.index import MOST_COUNTED, Value
from infra.search.words import terms_of
from infra.shards.states import MEANINGS, ShardLook, ShardState, counts, states_of
from tasks.browse.snippet import snippet

MOST_CHIPS = 12  # reasons shown above a list


@dataclass(frozen=True, slots=True)
class DatasetView:
    """A line of the first page."""

    name: str
    stages: Sequence[Stage]
    kept: int
    rejected: int
    bytes: int
    cost_usd: float
    latest: datetime | None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """A link to a part of a data set."""

    key: str
    title: str
    address: str
    rows: int | None = None


def datasets(catalog: Catalog) -> list[DatasetView]:
    """Return all data sets; one that cannot be read says why and hides no other."""
    return [_dataset(catalog, name) for name in catalog.datasets()]


def _dataset(catalog: Catalog, name: str) -> DatasetView:
    try:
        stages = catalog.stages(name)
    except NotThere as error:
        return DatasetView(name, (), 0, 0, 0, 0.0, None, str(error))
    moments = [stage.latest for stage in stages if stage.latest is not None]
    first = stages[0] if stages else None
    return DatasetView(
        name,
        stages,
        first.entries.rows(first.kept) if first else 0,
        first.rejected if first else 0,
        sum(stage.entries.bytes for stage in stages),
        sum(stage.cost_usd for stage in stages),
        max(moments, default=None),
    )


def frame(catalog: Catalog, dataset: str, active: str = "") -> dict[str, Any]:
    """Return what all pages of a data set show around their content."""
    stages = catalog.stages(dataset)
    tabs = [Tab("", "Overview", f"/d/{dataset}")]
    for stage in stages:
        for table in stage.store.tables:
            key = f"{table}.{stage.name.evaluation}" if stage.name.evaluation else table
            title = stage.name.evaluation or KINDS[table].title
            if (rows := stage.entries.rows(table)) or table == stage.kept:
                tabs.append(Tab(key, title, f"/d/{dataset}/rows/{quote(key)}", rows))
    if any(stage.name.stage == "records" for stage in stages):
        tabs.append(Tab("charts", "Charts", f"/d/{dataset}/charts"))
    return {"dataset": dataset, "stages": stages, "tabs": tabs, "active": active}


def states(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return the shards of each stage by state, and how wide each state is in a bar of 100."""
    found = {stage.name.key: counts(states_of(stage.store, stage.entries, above(stage, stages))) for stage in stages}
    ordered = {key: {state: of[state] for state in MEANINGS if of[state]} for key, of in found.items()}
    return {"states": ordered, "widths": {key: _widths(of) for key, of in ordered.items()}}


def _widths(shards_by_state: Mapping[ShardState, int]) -> dict[ShardState, int]:
    every = sum(shards_by_state.values())
    return {state: max(1, round(100 * count / every)) for state, count in shards_by_state.items()}


def shards(looks: Sequence[ShardLook], parameters: QueryParams, size: int) -> dict[str, Any]:
    """Return a page of shards, all or those of one state."""
    state = parameters.get("state", "")
    if state and state not in MEANINGS:
        raise AddressUnusable(f"state: {state[:20]} is none of {', '.join(MEANINGS)}.")
    kept = [look for look in looks if not state or look.state == state]
    said = parameters.get("page", "1")
    number = min(
        max(1, int(said) if said.isascii() and said.isdigit() and len(said) < 10 else 1), _pages(len(kept), size)
    )
    return {
        "looks": kept[(number - 1) * size : number * size],
        "strip": [look.state for look in looks] if len(looks) <= 4_000 else [],
        "state": state,
        "found": len(kept),
        "page": number,
        "pages": _pages(len(kept), size),
        "meanings": MEANINGS,
    }


def _pages(rows: int, size: int) -> int:
    return max(1, -(-rows // size))


def rows(
    stage: Stage, kind: Kind, wanted: Asked, table: str, values: Mapping[str, list[Value]], listed: Listed
) -> dict[str, Any]:
    """Return a page of a list."""
    address = f"/d/{stage.name.dataset}/rows/{quote(table)}"
    words = [term.text for term in terms_of(wanted.query.text) if not term.excluded]
    return {
        **_form(stage, kind, wanted, address, values),
        "listed": listed,
        "trouble": "",
        "rows": [
            {
                "address": f"{address}/{row['index']}{wanted.parameters(at=listed.start + number)}",
                "id": row[kind.id_column],
                "heading": kind.heading(row),
                "line": snippet(_line(kind, row), words),
                "cells": [(column, column.value(row)) for column in kind.columns],
            }
            for number, row in enumerate(listed.rows)
        ],
        "most": MOST_COUNTED,
        "last": listed.start + len(listed.rows),
        "page": wanted.page,
        "before": f"{address}{wanted.parameters(page=wanted.page - 1)}" if wanted.page > 1 else "",
        "behind": f"{address}{wanted.parameters(page=wanted.page + 1)}" if listed.has_next else "",
        "page_rows": PAGE_ROWS,
    }


def nothing(
    stage: Stage, kind: Kind, wanted: Asked, table: str, values: Mapping[str, list[Value]], trouble: str
) -> dict[str, Any]:
    """Return the page of a list that could not be made."""
    listed = Listed([], 0, 0, stage.entries.rows(kind.table), None)
    return {**rows(stage, kind, wanted, table, values, listed), "trouble": trouble}


def _line(kind: Kind, row: Mapping[str, Any]) -> str:
    """Return the text a list shows a line of, without what stands in its heading already."""
    heading, text = kind.heading(row), kind.text(row)
    return text.replace(heading, "", 1).strip() if kind.table in ("triplets", "evaluations") else text


def _form(stage: Stage, kind: Kind, wanted: Asked, address: str, values: Mapping[str, list[Value]]) -> dict[str, Any]:
    query = wanted.query
    first = kind.facets[0] if kind.facets else None
    chips = []
    if first is not None and first.name in ("reason", "outcome", "split") and len(values[first.name]) > 1:
        most = max(value.rows for value in values[first.name])
        chips = [
            {
                "value": value.value,
                "rows": value.rows,
                "width": max(1, round(100 * value.rows / most)),
                "address": f"{address}?f.{first.name}={quote(value.value)}",
                "chosen": query.facets.get(first.name) == value.value,
            }
            for value in values[first.name][:MOST_CHIPS]
        ]
    return {
        "kind": kind,
        "stage": stage,
        "query": query,
        "address": address,
        "values": values,
        "chips": chips,
        "progress_address": f"{address}/progress",
    }


def around(kind: Kind, table: str, wanted: Asked, found: Found, dataset: str) -> dict[str, Any]:
    """Return the links from a row to its list and to its neighbours there."""
    address = f"/d/{dataset}/rows/{quote(table)}"

    def link(neighbour: tuple[int, int] | None) -> str:
        return "" if neighbour is None else f"{address}/{neighbour[0]}{wanted.parameters(at=neighbour[1])}"

    place = wanted.place
    page = 1 if place is None else place // PAGE_ROWS + 1
    return {
        "kind": kind,
        "list_address": f"{address}{wanted.parameters(page=page)}",
        "before": link(found.before),
        "behind": link(found.behind),
        "filtered": not wanted.query.is_empty,
    }


def beside(catalog: Catalog, dataset: str, table: str, index: int) -> list[dict[str, str]]:
    """Return links to what other tables say of the same record."""
    family = ("records", "rejects", "triplets", "triplet_rejects", "evaluations", "splits")
    if table.partition(".")[0] not in family:
        return []
    links = []
    for stage in catalog.stages(dataset):
        for name in stage.store.tables:
            if name in family and name != "splits" and _has(stage, name, index):
                key = f"{name}.{stage.name.evaluation}" if stage.name.evaluation else name
                title = f"Judged: {stage.name.evaluation}" if stage.name.evaluation else KINDS[name].one.capitalize()
                chosen = "page" if key == table else ""
                links.append({"title": title, "address": f"/d/{dataset}/rows/{quote(key)}/{index}", "chosen": chosen})
    return links


def _has(stage: Stage, table: str, index: int) -> bool:
    try:
        return stage.rows(table).find(index) is not None
    except UNREADABLE:  # the page of that row says what is wrong
        return True
