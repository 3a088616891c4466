"""What a run will take, before it starts: calls, tokens, cost and time, from what each step took before.

A step's tokens come from shards that the same configuration has made, where there are any. Else they come from
``measured.toml``, scaled to the configuration: what a step writes grows with the length or the count it is asked for,
what it reads with the texts that stand in its prompt.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from infra.llm.types import Usage
from tasks.synthesis.config import SynthesisConfig

TABLE_FILE = Path(__file__).with_name("measured.toml")
_SECONDS_AN_HOUR = 3600
_NUMBER = re.compile(r"-\d+$")  # of the steps that are asked several times for one record: revise-1, revise-2, ...


class StepRate(BaseModel):
    """What one step takes for one row of the population, on average; ``cached`` is within ``prompt``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: float = Field(ge=0)
    prompt: float = Field(ge=0)
    cached: float = Field(ge=0)
    completion: float = Field(ge=0)


Rates = Mapping[str, StepRate]


class Shape(BaseModel):
    """The settings that a step's tokens depend on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: float
    record_types: float
    contexts: float
    formats: float
    attributes: float
    revisions: float
    label_share: float

    @classmethod
    def of(cls, config: SynthesisConfig) -> "Shape":
        """Return the shape of the records that ``config`` asks for; a list that is not asked for has no items."""
        return cls(
            words=config.words,
            record_types=config.record_types if config.record_type_and_format else 0,
            contexts=config.contexts,
            formats=config.formats if config.record_type_and_format else 0,
            attributes=config.attributes,
            revisions=config.refinement.steps,
            label_share=config.label_share,
        )


class MeasuredTable(BaseModel):
    """The shipped table: what each step took, and the shape of the records it was measured on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int = Field(ge=1)
    shape: Shape
    steps: dict[str, StepRate]


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a step grows.

    Attributes:
        texts: whole records that stand in its prompt.
        reads: the setting that its prompt grows with.
        writes: the setting that its reply grows with.
        times: the setting that says how often it is asked.
    """

    texts: int = 0
    reads: str | None = None
    writes: str | None = None
    times: str | None = None


_RULES: Mapping[str, _Rule] = {
    "record_types": _Rule(writes="record_types"),
    "contexts": _Rule(writes="contexts"),
    "formats": _Rule(writes="formats"),
    "draft": _Rule(writes="words"),
    "revise": _Rule(texts=1, writes="words", times="revisions"),
    "judge": _Rule(texts=2, times="revisions"),
    "attributes": _Rule(texts=1, writes="attributes"),
    "groups": _Rule(reads="attributes", writes="attributes"),  # its prompt lists them
    "label": _Rule(texts=1, times="label_share"),
}


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model of the mix.

    Attributes:
        weight: its share of the rows, relative to the other weights.
        cost_usd: what some tokens cost.
        shares: what part of that is billed at a step; of steps that are not named, all of it.
    """

    name: str
    weight: float
    cost_usd: Callable[[Usage], float]
    shares: Mapping[str, float] = field(default_factory=dict)

    def bill_usd(self, step: str, usage: Usage) -> float:
        """Return what the tokens of a step cost."""
        return self.shares.get(step, 1.0) * self.cost_usd(usage)


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """What one step will take for all rows."""

    step: str
    calls: int
    prompt: int
    cached: int
    completion: int
    cost_usd: float


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What one model of the mix will be asked for, and cost."""

    model: str
    rows: float
    calls: float
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will take; ``hours`` is None where nobody knows how fast calls are answered."""

    rows: int
    steps: tuple[StepEstimate, ...]
    models: tuple[ModelEstimate, ...]
    calls: int
    tokens: Usage
    cost_usd: float
    hours: float | None


@cache
def shipped() -> MeasuredTable:
    """Read the table that ships with this package."""
    return MeasuredTable.model_validate(tomllib.loads(TABLE_FILE.read_text(encoding="utf-8")))


def measured(rows: int, sums: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, StepRate]:
    """Return what a row took in finished shards.

    Args:
        rows: of all these shards, rejected ones included: they were paid for, too.
        sums: one mapping a shard, from a step to its ``calls`` and tokens, as the manifest's notes have it.
    """
    totals: dict[str, dict[str, int]] = {}
    for steps in sums:
        for step, counts in steps.items():
            total = totals.setdefault(_NUMBER.sub("", step), dict.fromkeys(StepRate.model_fields, 0))
            for name in total:
                total[name] += counts[name]
    return {step: StepRate(**{name: count / rows for name, count in total.items()}) for step, total in totals.items()}


def scaled(config: SynthesisConfig, table: MeasuredTable | None = None) -> dict[str, StepRate]:
    """Return what a row of ``config`` is expected to take, by the shipped table or another one."""
    table = table or shipped()
    asked, base = Shape.of(config), table.shape
    longer_text = (asked.words / base.words - 1) * table.steps["draft"].completion  # tokens more in each record

    def ratio(setting: str | None) -> float:
        return 1.0 if setting is None else float(getattr(asked, setting) / getattr(base, setting))

    def one(step: str, rate: StepRate) -> StepRate:
        rule = _RULES.get(_NUMBER.sub("", step), _Rule())
        times = ratio(rule.times) if rule.writes is None or ratio(rule.writes) else 0.0
        own = rate.cached + (rate.prompt - rate.cached) * ratio(rule.reads)  # what is cached is the same for everyone
        return StepRate(
            calls=rate.calls * times,
            prompt=(own + rate.calls * rule.texts * longer_text) * times,
            cached=rate.cached * times,
            completion=rate.completion * ratio(rule.writes) * times,
        )

    rates = {step: one(step, rate) for step, rate in table.steps.items()}
    return {step: rate for step, rate in rates.items() if rate.calls}


def estimate(rows: int, rates: Rates, models: Sequence[PricedModel], calls_per_s: float | None = None) -> Estimate:
    """Multiply out.

    Args:
        rows: how many are to be made.
        rates: what one of them takes, by step in the order of the chain.
        models: the mix.
        calls_per_s: how many calls a second all workers together get answered; None if that is not known.
    """
    steps = tuple(_step(step, rate, rows, models) for step, rate in rates.items())
    calls = sum(step.calls for step in steps)
    tokens = sum((_usage(rate, rows) for rate in rates.values()), Usage())
    return Estimate(
        rows=rows,
        steps=steps,
        models=tuple(
            ModelEstimate(model.name, rows * share, calls * share, _bill(rates, rows, model) * share)
            for model, share in _shares(models)
        ),
        calls=calls,
        tokens=tokens,
        cost_usd=sum(step.cost_usd for step in steps),
        hours=None if calls_per_s is None else calls / calls_per_s / _SECONDS_AN_HOUR,
    )


def _step(step: str, rate: StepRate, rows: int, models: Sequence[PricedModel]) -> StepEstimate:
    usage = _usage(rate, rows)
    return StepEstimate(
        step, round(rate.calls * rows), usage.prompt, usage.cached, usage.completion, _cost(step, usage, models)
    )


def _usage(rate: StepRate, rows: int) -> Usage:
    return Usage(round(rate.prompt * rows), round(rate.cached * rows), round(rate.completion * rows))


def _bill(rates: Rates, rows: int, model: PricedModel) -> float:
    """Add up what a model would cost that did all rows."""
    return sum(model.bill_usd(step, _usage(rate, rows)) for step, rate in rates.items())


def _cost(step: str, usage: Usage, models: Sequence[PricedModel]) -> float:
    """Add up the models, each with its share of the rows: a record is one model's from its first call to its last."""
    return sum(model.bill_usd(step, usage) * share for model, share in _shares(models))


def _shares(models: Sequence[PricedModel]) -> list[tuple[PricedModel, float]]:
    total = sum(model.weight for model in models)
    return [(model, model.weight / total) for model in models]
