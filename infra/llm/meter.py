"""Counts what calls cost beside what their answers say: tries that failed, and embeddings. One meter a shard."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from infra.llm.types import Usage


@dataclass(slots=True)
class Meter:
    """Tokens that no reply of a chain accounts for, by model.

    Attributes:
        wasted: of failed tries whose usage the server reported.
        failed: failed tries.
        embedded: of texts that were embedded.
    """

    wasted: dict[str, Usage] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    embedded: dict[str, Usage] = field(default_factory=dict)

    def waste(self, model: str, usage: Usage) -> None:
        """Count a failed try."""
        self.failed[model] = self.failed.get(model, 0) + 1
        self.wasted[model] = self.wasted.get(model, Usage()) + usage

    def embed(self, model: str, usage: Usage) -> None:
        """Count an embedding request."""
        self.embedded[model] = self.embedded.get(model, Usage()) + usage


# The task that makes a call inherits the meter of whoever started it, so that clients that many shards share can tell
# whose call they make. The default is nobody's.
METER: ContextVar[Meter] = ContextVar("METER", default=Meter())  # noqa: B039 - what nobody asks about may add up


@contextmanager
def metered() -> Iterator[Meter]:
    """Count the calls made within the block, and by the tasks it starts."""
    meter = Meter()
    token = METER.set(meter)
    try:
        yield meter
    finally:
        METER.reset(token)
