"""What the page of one row shows, table by table: the name of its template, and its values."""

import json
from collections.abc import Mapping
from typing import Any

from flows.browse.catalog import Stage
from flows.browse.kinds import Kind
from flows.browse.listing import Found
from tasks.browse.judged import judged
from tasks.browse.refined import refined
from tasks.browse.scored import LONGEST, explained
from tasks.report.view import view as record_view
from tasks.sanitization.view import view as triplet_view
from tasks.surprise.policy import Reference

Shown = tuple[str, dict[str, Any]]
_REJECTS = ("rejects", "triplet_rejects")


def row_view(stage: Stage, kind: Kind, found: Found) -> Shown:
    """Return template and values of a row."""
    row = found.row
    common = {"row": row, "id": row[kind.id_column], "shard": found.at.entry.shard.name, "table": kind.table}
    match kind.table:
        case "records":
            return "record", {**common, **_record(row)}
        case "triplets":
            return "triplet", {**common, "triplet": triplet_view(row)}
        case "evaluations":
            return "judged", {**common, "judged": judged(row)}
        case "scores":
            return "scored", {**common, **_scored(stage, found)}
        case table if table in _REJECTS:
            return "reject", common
        case _:
            return "plain", {**common, "values": {name: _plain(value) for name, value in row.items()}}


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    record = record_view(row)
    sizes = {group.number: len(group.keys) for group in record.groups}
    profile = {name.replace("_", " "): value for name, value in (row["profile"] or {}).items() if value is not None}
    return {
        "record": record,
        "sizes": sizes,
        "ungrouped": sum(not attribute.groups for attribute in record.attributes),
        "profile": profile,
        "event": row["event"],
        "refinement": refined(row["refinement"]),
    }


def _scored(stage: Stage, found: Found) -> dict[str, Any]:
    notes = stage.store.manifest.record(found.at.entry.shard).summary.notes
    prompts = notes["prompts"]
    assert isinstance(prompts, dict)
    named = {str(name): str(text) for name, text in prompts.items()}
    shown = explained(found.row, Reference.model_validate(notes["reference"]), named)
    return {
        "explained": shown,
        "cut": LONGEST if len(found.row["text"]) > LONGEST else 0,
        "labelled": any(piece.labels for piece in shown.pieces),
        "passes": [each["name"] for each in found.row["nll"]],
        "reading": notes.get("reading"),
    }


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
