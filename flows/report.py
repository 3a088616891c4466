"""What a data set is: its figures, a page about it, and a few of its records to look at."""

import json
from dataclasses import asdict
from typing import Any

from infra.shards import files
from infra.shards.location import Location
from infra.shards.store import StageStore
from tasks.report.examples import pick
from tasks.report.figures import Summary
from tasks.report.page import report_page
from tasks.report.summary import summarize

PAGE = "report.html"
RECORDS_SHOWN = 6
REJECTS_SHOWN = 8


def summary_of(store: StageStore) -> Summary:
    """Read every finished shard of ``store`` once.

    Raises:
        SchemaMismatch: a file is not as the schema says.
    """
    shards = store.manifest.shards()
    return summarize(
        (store.read_shard("records", shard) for shard in shards),
        (store.read_shard("rejects", shard) for shard in shards),
    )


def examples_of(store: StageStore, table: str, most: int, *, by: str) -> list[dict[str, Any]]:
    """Draw up to ``most`` rows of ``table``, as different in column ``by`` as one shard allows.

    The shard is the first that has rows.
    """
    for shard in store.manifest.shards():
        rows = store.read_shard(table, shard)
        if len(rows):
            return pick(rows, most, by=by)
    return []


def write_page(store: StageStore, name: str, summary: Summary) -> Location:
    """Write the HTML report of ``store`` into its data set's folder and return where it is."""
    page = store.layout.manifest.parents[1] / PAGE
    html = report_page(
        name,
        summary,
        examples_of(store, "records", RECORDS_SHOWN, by="domain"),
        examples_of(store, "rejects", REJECTS_SHOWN, by="reason"),
    )
    files.put(page, html.encode())
    return page


def to_json(summary: Summary) -> str:
    """Write all figures for a program, under their names and unrounded."""
    figures = asdict(summary)
    figures["subcategories"] = [
        {"domain": domain, "subcategory": name, "records": records}
        for (domain, name), records in summary.subcategories.items()
    ]
    return json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False)
