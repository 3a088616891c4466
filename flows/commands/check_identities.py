"""``privasis check-identities``: does any of these invented people exist? Asked of a model that searches the web."""

import asyncio
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.datasets import open_finished
from flows.commands.quiet import quiet_prefect
from flows.commands.wording import counted
from infra.llm.connect import Endpoint, price_of
from infra.llm.openai_responses import WebSearchModel
from infra.llm.prices import cost
from infra.llm.types import BackendUnavailable
from infra.shards import files, parquet
from infra.shards.location import Location
from infra.shards.store import StageStore
from tasks.identities.check import VERDICTS, IdentityCheck, check_identities, table_of
from tasks.identities.prompts import IDENTITY
from tasks.records import IDENTITY_CHECKS
from tasks.report.formats import count, percent, usd
from tasks.report.marks import visible

FILE = "identity_checks.parquet"
MOST_LISTED = 20


def run(folder: Location, endpoint: Endpoint, sample: int, seed: int) -> None:
    """Ask about a sample of the profiles in ``folder``, keep every verdict in a Parquet file, and show them.

    What the same model has been asked with the same prompt is not asked again: after an error, or with a larger
    sample, the same command goes on.

    Raises:
        ConfigError: no finished records there.
        UnknownPrice: nobody has said what the model costs.
        BackendUnavailable: the model does not answer; the verdicts so far are kept.
    """
    quiet_prefect()
    price = price_of(endpoint)
    path = folder.resolve() / FILE
    rows = _rows_of(path)
    known = {row["record_id"] for row in rows if _is_of(row, endpoint) and row["verdict"] != "unanswered"}
    profiles = sampled(open_finished(folder), sample, seed)
    todo = [(record_id, profile) for record_id, profile in profiles if record_id not in known]

    def done(check: IdentityCheck) -> None:
        before = [row for row in rows if not (_is_of(row, endpoint) and row["record_id"] == check.record_id)]
        rows[:] = before  # one that was unanswered stays until it is asked again
        rows.append(check.row(endpoint.model, cost(check.searched.usage, price)))

    async def ask() -> None:
        async with WebSearchModel(endpoint) as searcher:
            await check_identities(searcher, todo, in_flight=endpoint.max_in_flight, done=done)

    try:
        asyncio.run(ask())
    except BackendUnavailable as error:
        if not rows:
            raise
        so_far = f"{counted(len(rows), 'verdict')} so far in {path}"
        raise BackendUnavailable(f"{error}; {so_far}: run it again and it goes on") from error
    finally:
        if rows or not todo:  # not an empty table where nobody was asked
            files.put(path, parquet.encode(table_of(rows)))
    asked = {record_id for record_id, _ in profiles}
    _print([row for row in rows if row["record_id"] in asked and _is_of(row, endpoint)], path)


def sampled(store: StageStore, sample: int, seed: int) -> list[tuple[str, dict[str, Any]]]:
    """Draw up to ``sample`` profiles; a larger sample holds the smaller one of the same seed."""
    table: pa.Table = store.read("records", ["record_id", "profile"])
    order = np.random.default_rng(seed).permutation(table.num_rows)[:sample]
    return [(row["record_id"], row["profile"]) for row in table.take(pa.array(order)).to_pylist()]


def _rows_of(path: Location) -> list[dict[str, Any]]:
    if not files.exists(path):
        return []
    rows: list[dict[str, Any]] = parquet.read(path, IDENTITY_CHECKS).to_pylist()
    return rows


def _is_of(row: dict[str, Any], endpoint: Endpoint) -> bool:
    return bool(row["model"] == endpoint.model and row["prompt_sha"] == IDENTITY.sha)


def _print(rows: list[dict[str, Any]], path: Location) -> None:
    console = Console()
    verdicts = Counter(row["verdict"] for row in rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=True)
    table.add_column("verdict", footer=counted(len(rows), "profile"))
    table.add_column("profiles", justify="right", footer=count(len(rows)))
    table.add_column("share", justify="right")
    for verdict in VERDICTS:
        share = percent(verdicts[verdict] / len(rows)) if rows else ""
        table.add_row(verdict, count(verdicts[verdict]), share)
    console.print(table)
    notable = [row for row in rows if row["verdict"] != "no_match"]
    for row in sorted(notable, key=lambda row: VERDICTS.index(row["verdict"]))[:MOST_LISTED]:
        line = f"{row['record_id']}  {row['verdict']}: {visible(row['reason'])}"
        console.print(Text(line), soft_wrap=True)
    searches, dollars = sum(row["searches"] for row in rows), sum(row["cost_usd"] for row in rows)
    console.print(
        Text(f"{counted(searches, 'search')} of the web, billed on top of {usd(dollars)} for tokens; all in {path}"),
        soft_wrap=True,
    )
