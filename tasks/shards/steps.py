"""What every stage that asks models does with a shard: the mix it asks, the outcomes it collects, what it reports."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from prefect import Task
from prefect.client.schemas.objects import State, TaskRun
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from infra.llm.connect import Batching, Endpoint, connect, price_of
from infra.llm.meter import METER, Meter
from infra.llm.prices import UnknownPrice, cost, price_table
from infra.llm.types import BackendGone, BackendUnavailable, Reply, Request, Usage
from infra.ray.job import WorkerContext
from infra.ray.keeper import KeeperUnavailable
from infra.ray.versions import versions_here
from infra.ray.worker import JobStopped, WorkerDied
from infra.shards.lease import LeaseHeld
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.s3 import StorageUnavailable
from tasks.concurrency import map_bounded
from tasks.shards.mix import Mix
from tasks.shards.money import EMBEDDING, FAILED_TRIES, Paid, Spending, lines_to_json, spending_of
from tasks.shards.spreads import Spreads
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Reject

logger = logging.getLogger(__name__)

RETRIES = 3
SHARD = "shard"  # tag of the tasks that make one: a concurrency limit of this name holds over all runs of a server
PASSING = (JobStopped,)  # what ends an attempt at a shard and is no failure of it
MICRO = 1_000_000

T = TypeVar("T")


_PASSES = (BackendUnavailable, KeeperUnavailable, LeaseHeld, StorageUnavailable, WorkerDied)

K = TypeVar("K", bound=Paid)  # a row that a chain has finished, such as a record or a triplet


class MixEntry(BaseModel):
    """A model of the mix, as it is served now."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: Endpoint
    weight: float = Field(gt=0)
    repeat_penalty: float | None = None
    forbidden_characters: str = ""
    identity: dict[str, JsonValue] = Field(description="what makes its replies what they are; part of the spec hash")
    hands_over: bool = Field(
        default=False, exclude=True, description="its share goes to the others if it fails for good; shapes no row"
    )
    batching: Batching | None = Field(
        default=None, exclude=True, description="single-shot steps go by its provider's Batch API; shapes no row"
    )


@dataclass(frozen=True, slots=True)
class ShardReceipt:
    """What became of a shard: small enough for a dashboard, and without record text; the manifest says the same.

    Attributes:
        records: rows kept.
        calls: answered calls that the rows took, replayed ones included; likewise their tokens and cost.
        failed_tries: calls that were not answered with something usable, each followed by another or by the call's end.
        beside: tokens of failed tries and of embeddings; likewise what they cost.
    """

    shard: str
    records: int
    filtered: int
    quarantined: int
    calls: int
    replayed: int
    tokens: Usage
    cost_usd: float
    failed_tries: int
    beside: Usage
    beside_usd: float

    @property
    def all_tokens(self) -> Usage:
        """All that was paid for, as `privasis cost` has it."""
        return self.tokens + self.beside

    @property
    def bill_usd(self) -> float:
        """What all of it cost."""
        return self.cost_usd + self.beside_usd


def worth_another_try(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Tell trouble that passes from faults that come back."""
    error = state.result(raise_on_failure=False)
    passes = isinstance(error, _PASSES)
    passes = passes and not isinstance(error, BackendGone)
    if passes and run.run_count <= RETRIES:
        logger.warning("%s: %s; trying again, %d of %d", run.name, error, run.run_count, RETRIES)
    return passes


async def mixed_models(entries: Sequence[MixEntry], context: WorkerContext) -> Mix:
    """Connect to the mix, and begin to count what this job pays; all jobs of a worker share its clients."""
    METER.set(Meter({entry.endpoint.model: price_of(entry.endpoint) for entry in entries}))
    models = [
        MixedModel(
            await context.shared(entry.endpoint.model_dump_json(), partial(connect, entry.endpoint, context.limiter)),
            entry.weight,
            partial(cost, price=price_of(entry.endpoint)),
            entry.repeat_penalty,
            entry.forbidden_characters,
        )
        for entry in entries
    ]
    return Mix(models, hands_over=all(entry.hands_over for entry in entries))


def add_price(endpoint: Endpoint) -> None:
    """Let the job's meter know what an embedding model costs, where anybody knows."""
    try:
        METER.get().embedding_prices[endpoint.model] = price_of(endpoint)
    except UnknownPrice:
        logger.warning("%s: no price known: its tokens are counted, its cost is not", endpoint.model)


def counted(context: WorkerContext, spreads: Spreads) -> Callable[[Request, Reply], None]:
    """Return the transcript of a chain that only counts: for whoever watches the worker, and for the manifest."""

    def count(request: Request, reply: Reply) -> None:
        context.progress["calls"] += 1
        context.progress["tokens"] += reply.usage.prompt + reply.usage.completion
        spreads.add(request, reply)

    return count


async def outcomes_of(
    shard: ShardRange,
    items: Sequence[T],
    run: Callable[[T], Awaitable[K | Reject]],
    context: WorkerContext,
    in_flight: int,
) -> list[K | Reject]:
    """Run the chain of each item, at most ``in_flight`` at once, in the order of ``items``.

    Raises:
        JobStopped: the run was told to stop; what was in flight has ended.
    """

    async def one(item: T) -> K | Reject | None:
        if context.stopping.is_set():
            return None
        outcome = await run(item)
        context.progress[outcome.outcome if isinstance(outcome, Reject) else "records"] += 1
        context.progress["microdollars"] += round(outcome.spent.cost_usd * MICRO)
        context.progress["microdollars_beside"] = round(METER.get().cost_usd() * MICRO)
        return outcome

    outcomes = await map_bounded(one, items, in_flight)
    done = [outcome for outcome in outcomes if outcome is not None]
    if len(done) < len(outcomes):
        raise JobStopped(f"{shard.name}: stopped after {len(done)} of {len(items)} records; run again and it goes on")
    return done


def receipt_of(shard: ShardRange, outcomes: Sequence[Paid | Reject], replayed: int) -> ShardReceipt:
    """Count what a shard's chains have ended in, and what they took."""
    meter = METER.get()
    kinds = Counter(each.outcome if isinstance(each, Reject) else "kept" for each in outcomes)
    return ShardReceipt(
        shard=shard.name,
        records=kinds["kept"],
        filtered=kinds["filtered"],
        quarantined=kinds["quarantined"],
        calls=sum(each.spent.calls for each in outcomes),
        replayed=replayed,
        tokens=sum((each.spent.tokens for each in outcomes), Usage()),
        cost_usd=sum(each.spent.cost_usd for each in outcomes),
        failed_tries=meter.failed_tries,
        beside=meter.tokens,
        beside_usd=meter.cost_usd(),
    )


def summary_of(
    receipt: ShardReceipt, outcomes: Sequence[Paid | Reject], step_kind: Callable[[str], str] = str, **notes: JsonValue
) -> ShardSummary:
    """Return what the manifest keeps of a shard.

    Args:
        receipt: the shard's.
        outcomes: what it counts.
        step_kind: the name under which a step is summed up, where steps carry numbers.
        notes: what the stage wants to find again.
    """
    steps: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for step, spent in outcome.spent.steps.items():
            steps.setdefault(step_kind(step), Counter()).update({"calls": spent.calls, **asdict(spent.usage)})
    meter = METER.get()
    embedding_costs = {model: partial(cost, price=price) for model, price in meter.embedding_prices.items()}
    beside = [
        Spending.of(model, FAILED_TRIES, meter.failed[model], usage, meter.price_at(model, FAILED_TRIES))
        for model, usage in meter.wasted.items()
    ] + [Spending.of(model, EMBEDDING, 0, usage, embedding_costs.get(model)) for model, usage in meter.embedded.items()]
    return ShardSummary(
        reasons=Counter(each.reason for each in outcomes if isinstance(each, Reject)),
        tokens=receipt.tokens,
        calls=receipt.calls,
        cost_usd=receipt.cost_usd,
        versions=versions_here() | {"prices": price_table().as_of},
        notes={
            "filtered": receipt.filtered,
            "quarantined": receipt.quarantined,
            "replayed": receipt.replayed,
            "steps": {step: dict(counts) for step, counts in sorted(steps.items())},
            "spending": lines_to_json([*spending_of(outcomes, meter.price_at, step_kind), *beside]),
            "prices": {model: price.model_dump() for model, price in (meter.embedding_prices | meter.prices).items()},
            **notes,
        },
    )
