"""What a shard has cost, model by model and step by step, as the manifest keeps it."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from infra.llm.types import Usage
from tasks.synthesis.outcome import Identity, Spent

FAILED_TRIES = "(failed tries)"
EMBEDDING = "(embedding)"
BESIDE = (FAILED_TRIES, EMBEDDING)  # paid for beside the answers that chains have used


class Paid(Protocol):
    """An outcome of a chain: who wrote it, and what it took."""

    @property
    def identity(self) -> Identity:
        """Which row it is, and of which model."""
        ...

    @property
    def spent(self) -> Spent:
        """What it took."""
        ...


class Spending(BaseModel):
    """Calls and tokens of one model at one step; ``cost_usd`` is None where nobody has said what a token costs.

    The steps ``(failed tries)`` and ``(embedding)`` are what was paid for beside the answers that chains have used, in
    the process that finished the shard.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    step: str
    calls: int = Field(ge=0)
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    cost_usd: float | None

    @classmethod
    def of(
        cls, model: str, step: str, calls: int, usage: Usage, cost_usd: Callable[[Usage], float] | None
    ) -> "Spending":
        """Put together one line."""
        price = None if cost_usd is None else cost_usd(usage)
        return cls(model=model, step=step, calls=calls, **asdict(usage), cost_usd=price)


Lines = TypeAdapter(list[Spending])


def spending_of(
    outcomes: Iterable[Paid],
    price_at: Callable[[str, str], Callable[[Usage], float] | None],
    step_kind: Callable[[str], str] = str,
) -> list[Spending]:
    """Sum up what chains were answered, by model and step.

    Args:
        outcomes: of the shard.
        price_at: what tokens cost, of a model and a step; None where nobody knows.
        step_kind: the name under which a step is summed up, where steps carry numbers.
    """
    calls: dict[tuple[str, str], int] = {}
    tokens: dict[tuple[str, str], Usage] = {}
    for outcome in outcomes:
        for step, spent in outcome.spent.steps.items():
            key = (outcome.identity.model, step_kind(step))
            calls[key] = calls.get(key, 0) + spent.calls
            tokens[key] = tokens.get(key, Usage()) + spent.usage
    return [
        Spending.of(model, step, calls[model, step], tokens[model, step], price_at(model, step))
        for model, step in sorted(calls)
    ]


def lines_to_json(lines: Iterable[Spending]) -> Any:  # noqa: ANN401 - JSON
    """Return lines as the manifest's notes keep them."""
    return [line.model_dump() for line in lines]
