"""Counts what calls cost beside what their answers say: tries that failed, and embeddings. One meter a shard."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from infra.llm.prices import BATCH_SHARE, Price, cost
from infra.llm.types import Usage


@dataclass(slots=True)
class Meter:
    """Tokens that no reply of a chain accounts for, by model.

    Attributes:
        prices: of the models that are asked.
        batched: steps of a model that its Batch API answers, for a part of its price.
        embedding_prices: of the models that embed, where they are known.
        failed: failed tries.
        wasted: of failed tries whose usage the server reported.
        embedded: of texts that were embedded.
    """

    prices: dict[str, Price] = field(default_factory=dict)
    batched: dict[str, frozenset[str]] = field(default_factory=dict)
    embedding_prices: dict[str, Price] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    wasted: dict[str, Usage] = field(default_factory=dict)
    embedded: dict[str, Usage] = field(default_factory=dict)

    def fail(self, model: str, usage: Usage) -> None:
        """Count a failed try."""
        self.failed[model] = self.failed.get(model, 0) + 1
        self.wasted[model] = self.wasted.get(model, Usage()) + usage

    def embed(self, model: str, usage: Usage) -> None:
        """Count an embedding request."""
        self.embedded[model] = self.embedded.get(model, Usage()) + usage

    def price_at(self, model: str, step: str) -> Callable[[Usage], float] | None:
        """Return what tokens of a model cost at a step; None where nobody has said."""
        if model not in self.prices:
            return None
        share = BATCH_SHARE if step in self.batched.get(model, ()) else 1.0
        return lambda usage: share * cost(usage, self.prices[model])

    @property
    def failed_tries(self) -> int:
        """How many there were, of all models."""
        return sum(self.failed.values())

    @property
    def tokens(self) -> Usage:
        """All that is counted here."""
        return sum((*self.wasted.values(), *self.embedded.values()), Usage())

    def cost_usd(self) -> float:
        """Return what all this costs; a model whose price nobody has said counts as free."""
        return sum(
            cost(usage, prices[model])
            for counts, prices in ((self.wasted, self.prices), (self.embedded, self.embedding_prices))
            for model, usage in counts.items()
            if model in prices
        )


# The task that makes a call inherits the meter of whoever started it, so that clients that many shards share can tell
# whose call they make. The default is nobody's.
METER: ContextVar[Meter] = ContextVar("METER", default=Meter())  # noqa: B039 - what nobody asks about may add up
