"""Which models a study trains: every method with every seed, one seed after the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.masking_study.config import Methods
from tasks.surprise.policy import Policy
from tasks.training.masked.config import Action
from tasks.training.masked.maskings import (
    ByMethod,
    ByPolicy,
    Masking,
    RandomLike,
    Unmasked,
    goldfish,
    oracle,
)

_MODES: tuple[Literal["paper", "reference"], ...] = ("paper", "reference")


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the tables.

    Attributes:
        masking: name of the masking.
        action: what becomes of the tokens that it selects.
    """

    masking: str
    action: Action = "loss"

    @property
    def name(self) -> str:
        """As tables call it."""
        return self.masking if self.action == "loss" else f"{self.masking}, {self.action}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A model to train and to measure."""

    method: Method
    seed: int

    @property
    def folder(self) -> str:
        """Its folder's name, but for the fingerprint: letters, digits, hyphens."""
        return f"{self.method.masking.replace(':', '-')}-{self.method.action}-seed{self.seed}"


def level(recall: int) -> str:
    """Name the masking of a target recall in percent."""
    return f"SM{recall}"


def maskings(asked: Methods, policies: Mapping[str, Policy], filtered: ByMethod | None) -> list[Masking]:
    """Return every masking, each before those that are matched to it.

    Args:
        asked: the rows wanted.
        policies: by the name of the masking; a target recall that calibration could not reach has none.
        filtered: what the OpenAI Privacy Filter masks; None where its weights are not at hand.
    """
    found: list[Masking] = [Unmasked(), oracle()]
    for recall in asked.recalls:
        if (name := level(recall)) in policies:
            found.append(ByPolicy(name, policies[name]))
            if recall in asked.random:
                found.append(RandomLike(f"random:{name}", name))
    found += [goldfish(k, mode) for mode in _MODES for k in asked.goldfish]
    return found if filtered is None else [*found, filtered]


def methods(asked: Methods, made: Sequence[str]) -> list[Method]:
    """Return the rows of the tables: every masking by its loss, then the other actions at the last recall.

    Args:
        asked: the rows wanted.
        made: names of the maskings there are.
    """
    last = level(asked.recalls[-1])
    actions = asked.actions if last in made else ()
    return [*(Method(name) for name in made), *(Method(last, action) for action in actions)]


def cells(rows: Sequence[Method], seeds: Sequence[int]) -> Iterator[Cell]:
    """Yield every model, the first seed of all methods before the second of any."""
    return (Cell(method, seed) for seed in seeds for method in rows)


def planned(asked: Methods, *, has_filter: bool) -> list[Method]:
    """Return the rows that there are when calibration reaches every target recall."""
    names = ["unmasked", "oracle"]
    for recall in asked.recalls:
        names += [level(recall), *([f"random:{level(recall)}"] if recall in asked.random else [])]
    names += [goldfish(k, mode).name for mode in _MODES for k in asked.goldfish]
    return methods(asked, [*names, *(["opf"] if has_filter else [])])
