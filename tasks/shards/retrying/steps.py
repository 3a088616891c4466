"""Asks the rejected rows of a finished shard again, them alone, and commits the shard anew with those that now pass.

A mark in the journal grants the step at which a row was rejected another round of attempts. What was answered before
is replayed, what comes now has numbers, seeds and keys of its own, and whoever makes the shard again from its journal
comes to the same rows. The manifest notes how many marks a row has used: a retry that was killed goes on with its own.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff

from infra.events import shard_committed
from infra.llm.types import Reply, Request, RequestRejected, Usage
from infra.ray.job import WorkerContext
from infra.ray.worker import WorkerPool
from infra.shards.failures import Attempt
from infra.shards.heartbeat import heartbeat
from infra.shards.journal import Journal
from infra.shards.manifest import ShardRecord, ShardSummary
from infra.shards.off_loop import off_loop
from infra.shards.ranges import ShardRange
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.events import EventLog, again_key
from tasks.sanitization import outcome as triplets
from tasks.sanitization import steps as sanitization
from tasks.sanitization.source import COLUMNS, Source
from tasks.shards.batches import batched
from tasks.shards.mix import surviving
from tasks.shards.retrying.choice import NotCurrent, NothingToAsk, Wanted, could_differ, replaced
from tasks.shards.retrying.sums import spending_sum, spreads_sum, steps_sum
from tasks.shards.spreads import Spreads
from tasks.shards.steps import (
    PASSING,
    RETRIES,
    SHARD,
    ShardReceipt,
    counted,
    outcomes_of,
    receipt_of,
    summary_of,
    worth_another_try,
)
from tasks.synthesis import outcome as records
from tasks.synthesis import steps as synthesis
from tasks.synthesis.seeds import record_id

AGAIN = "again"  # in the manifest's notes: record id -> marks that its row has used

RetryJob = synthesis.SynthesisJob | sanitization.SanitizationJob
Run = Callable[[Any], Awaitable[Any]]
RunOn = Callable[[EventLog, Callable[[Request, Reply], None]], Run]


@dataclass(frozen=True, slots=True)
class RetryReceipt:
    """What became of the rejected rows of a shard.

    Attributes:
        asked: rows that were asked again.
        passed: of these, those that are kept now.
        shard: calls, tokens and cost of the rows asked, replayed ones included.
    """

    asked: int
    passed: int
    shard: ShardReceipt


@task(
    task_run_name="{shard}",
    tags=[SHARD],
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(10),
    retry_condition_fn=worth_another_try,
    cache_policy=NO_CACHE,  # a mark that is used up is its own cache
)
def retry_shard(shard: str, job: RetryJob, wanted: Wanted, pool: WorkerPool) -> RetryReceipt:
    """Ask the rejected rows of one shard again on a worker and wait until it is committed."""
    part = ShardRange.parse(shard)
    store = job.store()
    with Attempt(store.layout, part, PASSING):
        receipt = pool.submit(shard, partial(retry_rows, job, part, wanted))
    shard_committed(store, part)
    return receipt


def rejects_to_ask(store: StageStore, shard: ShardRange, wanted: Wanted) -> list[dict[str, Any]]:
    """Return the rejected rows of a finished shard that are meant, and could end otherwise.

    Raises:
        KeyError: the shard is not committed.
        TableDamaged: its file is not what was committed.
    """
    _, table = store.tables
    return [row for row in store.read_shard(table, shard).to_pylist() if wanted.takes(row) and could_differ(row)]


async def retry_rows(job: RetryJob, shard: ShardRange, wanted: Wanted, context: WorkerContext) -> RetryReceipt:
    """Ask those of the rejected rows of ``shard`` again that are wanted, and commit it with what they end in now.

    Raises:
        KeyError: the shard is not committed.
        NotCurrent: it was made by other settings, or of other rows, than now.
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a model does not answer; what was answered is in the journal.
        JobStopped: the run was told to stop; what was in flight has ended.
    """
    store, spreads, before = job.store(), Spreads(), Spreads()
    async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
        was = await asyncio.to_thread(_current, job, store, shard)
        rejects = await asyncio.to_thread(rejects_to_ask, store, shard, wanted)
        if not rejects:
            raise NothingToAsk(f"{shard.name}: no rejected row of it is meant and could end otherwise")
        items = await asyncio.to_thread(_items, job, shard, {row["record_id"] for row in rejects})
        used = _note(was.summary, AGAIN)
        marks = _marks(rejects, used)
        async with (
            off_loop(partial(store.journal, lease)) as journal,
            _chains(job, shard, context, journal) as run_on,
        ):
            past = run_on(_Past(journal, (key for key, _ in marks.values())), before.add)
            paid = [found for item in items if (found := await _replayed(past, item)) is not None]
            less = summary_of(receipt_of(shard, paid, 0), paid, _kind, histograms=before.to_json())
            for key, step in marks.values():
                if journal.get(key) is None:  # else a retry that was killed has set it
                    journal.append(key, step.encode())
            run = run_on(journal, counted(context, spreads))
            outcomes = await outcomes_of(shard, items, run, context, job.in_flight)
        receipt = receipt_of(shard, outcomes, journal.replayed)
        plus = summary_of(receipt, outcomes, _kind, histograms=spreads.to_json())
        tables = await asyncio.to_thread(_tables, job, store, shard, outcomes)
        await asyncio.to_thread(
            store.commit,
            shard,
            tables,
            lease,
            was.rows,
            spec_hash=was.spec_hash,
            input_hashes=was.input_hashes,
            summary=_summary(was.summary, less, plus, tables, rejects, used | _used(marks, used)),
        )
    return RetryReceipt(len(items), receipt.records, receipt)


def _kind(step: str) -> str:
    return step.partition("-")[0]


def _current(job: RetryJob, store: StageStore, shard: ShardRange) -> ShardRecord:
    was = store.manifest.record(shard)
    inputs: Mapping[str, str] = {}
    if isinstance(job, sanitization.SanitizationJob):
        inputs = sanitization.input_hashes(job.records(), shard)
    if (was.spec_hash, dict(was.input_hashes)) != (job.spec_hash(), dict(inputs)):
        raise NotCurrent(
            f"{shard.name}: {store.stage} of other settings or rows than now: `privasis backfill --stages {store.stage}"
            " --reprocess stale` makes them again, then retry"
        )
    return was


def _items(job: RetryJob, shard: ShardRange, ids: set[str]) -> list[Any]:
    """Return what the chain of each row in ``ids`` begins with."""
    if isinstance(job, synthesis.SynthesisJob):
        return [index for index in range(shard.start, shard.stop) if record_id(job.seed, index) in ids]
    rows = job.records().read_shard("records", shard, list(COLUMNS)).to_pylist()
    return [Source.of_row(row) for row in rows if row["record_id"] in ids]


@asynccontextmanager
async def _chains(job: RetryJob, shard: ShardRange, context: WorkerContext, journal: Journal) -> AsyncIterator[RunOn]:
    """Connect once, and give what makes the chain of a log, as the stage itself would run it."""
    if isinstance(job, synthesis.SynthesisJob):
        chain = await synthesis.chain_of(job, context, journal, _nothing)
        ledger_of = partial(job.store().layout.batch_ledger, shard)
        async with batched(chain.models, job.models, ledger_of, context.batching) as models:
            yield lambda log, transcript: models.surviving(
                replace(chain, models=models, log=log, transcript=transcript).run
            )
    else:
        other = await sanitization.chain_of(job, context, journal, _nothing)
        yield lambda log, transcript: surviving(other.models, replace(other, log=log, transcript=transcript).run)


def _nothing(request: Request, reply: Reply) -> None:
    """Take no notice."""


class _Past:
    """A journal as it was when the shard was committed: it asks nobody, and hides marks that were not used then."""

    def __init__(self, journal: Journal, hidden: Iterable[str]) -> None:
        self._journal = journal
        self._hidden = frozenset(hidden)

    def get(self, key: str) -> bytes | None:
        """See ``EventLog.get``."""
        return None if key in self._hidden else self._journal.get(key)

    async def once(self, key: str, produce: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what is there.

        Raises:
            RequestRejected: nothing is, as where a server had rejected the request: that leaves no event.
        """
        found = self._journal.get(key)
        if found is None:
            raise RequestRejected("not in the journal")
        return found


async def _replayed(run: Run, item: object) -> Any:  # noqa: ANN401 - a row of the stage, or a reject
    """Return what a row has ended in, None where its journal does not tell (of a shard that changed hands)."""
    try:
        return await run(item)
    except RequestRejected:
        return None


def _marks(rejects: Sequence[Mapping[str, Any]], used: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Return record id -> key and body of its next mark; a request that was rejected is asked again without one."""
    return {
        row["record_id"]: (again_key(row["record_id"], used.get(row["record_id"], 0)), row["step"])
        for row in rejects
        if row["reason"] != "request_rejected"
    }


def _used(marks: Iterable[str], used: Mapping[str, int]) -> dict[str, int]:
    return {name: used.get(name, 0) + 1 for name in marks}


def _tables(job: RetryJob, store: StageStore, shard: ShardRange, outcomes: Sequence[Any]) -> dict[str, pa.Table]:
    """Put the rows as they are now in the place of those that were asked; the others stay as they are."""
    tables_of: Any = records.tables if isinstance(job, synthesis.SynthesisJob) else triplets.tables
    ids = {each.identity.record_id for each in outcomes}
    return {table: replaced(store.read_shard(table, shard), after, ids) for table, after in tables_of(outcomes).items()}


def _summary(
    was: ShardSummary,
    less: ShardSummary,
    plus: ShardSummary,
    tables: Mapping[str, pa.Table],
    rejects: Sequence[Mapping[str, Any]],
    used: Mapping[str, int],
) -> ShardSummary:
    """Return what the manifest keeps of the shard now."""
    (kept, rows), (_, rejected) = tables.items()
    reasons = Counter(rejected["reason"].to_pylist())
    outcomes = Counter(rejected["outcome"].to_pylist())
    then = Usage()
    for row in rejects:
        then += Usage(**row["tokens"])
    notes: dict[str, Any] = dict(was.notes) | {
        "filtered": outcomes["filtered"],
        "quarantined": outcomes["quarantined"],
        "steps": steps_sum(_note(was, "steps"), _note(less, "steps"), _note(plus, "steps")),
        "spending": spending_sum(*(each.notes.get("spending", []) for each in (was, less, plus))),
        "histograms": spreads_sum(*(_note(each, "histograms") for each in (was, less, plus))),
        "prices": _note(was, "prices") | _note(plus, "prices"),
        kept: rows.num_rows,
        AGAIN: dict(used),
    }
    if "verified" in rows.column_names:
        notes["verified"] = int(pc.sum(rows["verified"]).as_py() or 0)
    return ShardSummary(
        reasons=reasons,
        tokens=_less(was.tokens + plus.tokens, then),
        calls=was.calls + plus.calls - sum(row["calls"] for row in rejects),
        cost_usd=max(0.0, was.cost_usd + plus.cost_usd - sum(row["cost_usd"] for row in rejects)),
        versions=plus.versions,
        notes=notes,
    )


def _note(summary: ShardSummary, name: str) -> dict[str, Any]:
    found = summary.notes.get(name)
    return found if isinstance(found, dict) else {}


def _less(tokens: Usage, then: Usage) -> Usage:
    return Usage(**{name: count - getattr(then, name) for name, count in asdict(tokens).items()})
