"""Answers the single-shot steps of a shard by a provider's Batch API, for those models that are configured so."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from infra.llm.connect import Batching, Endpoint
from infra.llm.meter import METER
from infra.llm.prices import BATCH_SHARE
from infra.llm.types import Backend, Usage
from infra.shards.location import Location
from tasks.shards.mix import Mix
from tasks.shards.steps import MixEntry
from tasks.synthesis.chain import SINGLE_SHOT, MixedModel


@asynccontextmanager
async def batched(
    models: Sequence[MixedModel],
    entries: Sequence[MixEntry],
    ledger_of: Callable[[str], Location],
    watched: Callable[[Backend], Backend],
) -> AsyncIterator[Mix]:
    """Give each of ``models`` that is configured so its batches for the length of the block.

    The ledger of a shard's batches lies beside its journal and is read under its lease: whoever makes the shard after a
    crash, on whatever machine, waits for the batches that were sent, and asks for none of them again.

    Args:
        models: as connected, before any record was begun.
        entries: what they were connected from, in the same order.
        ledger_of: says where a model's ledger lies for the shard, whose lease is held.
        watched: lets whoever watches the shard see the calls of a backend.

    Raises:
        BackendGone: a key is missing.
        BackendUnavailable: a provider does not say what has become of its batches.
    """
    async with AsyncExitStack() as stack:
        ways = []
        for model, entry in zip(models, entries, strict=True):
            if entry.batching is None:
                ways.append(model)
                continue
            name = entry.endpoint.model
            opened = await stack.enter_async_context(_backend(entry.endpoint, ledger_of(name), entry.batching))
            METER.get().batched[name] = SINGLE_SHOT
            ways.append(replace(model, batch=_by_batches(model, watched(opened))))
        yield Mix(ways, hands_over=all(entry.hands_over for entry in entries))


def _backend(endpoint: Endpoint, ledger: Location, batching: Batching) -> Backend:
    from infra.llm.openai_batch import BatchBackend  # here: the SDK takes a second to import

    return BatchBackend(endpoint, ledger, batching)


def _by_batches(model: MixedModel, backend: Backend) -> MixedModel:
    def cost_usd(usage: Usage) -> float:
        return BATCH_SHARE * model.cost_usd(usage)

    return replace(model, backend=backend, cost_usd=cost_usd)
