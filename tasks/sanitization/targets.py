"""What is to be hidden (PV section 3.1, step 2): attributes or groups, drawn by how sensitive they are."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tasks.ask import Asker
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.prompts import WEIGHTS
from tasks.sanitization.source import Source
from tasks.schemas import json_object
from tasks.synthesis.attributes import Attribute

Label = Literal["abstract", "drop"]

MOST_SENSITIVE = 10
TOKENS_PER_WEIGHT = 24
_NUMBERING = re.compile(r"_\d+$")
COUNT_SHARES = (0.20, 0.22, 0.22, 0.20, 0.16)  # of records with 1, 2, ... 5 targets: 2.9 on average, as in the paper


@dataclass(frozen=True, slots=True)
class Target:
    """Something to be hidden, and how.

    Attributes:
        name: the attribute's key or the group's name, in words.
        attributes: what belongs to it: one, or a group's members.
        is_group: whether it was drawn as a group.
        label: whether to generalise it or to take it out.
        weight: how sensitive it is, 1 to 10; of a group, the mean of its members.
    """

    name: str
    attributes: tuple[Attribute, ...]
    is_group: bool
    label: Label
    weight: float

    @property
    def values(self) -> tuple[str, ...]:
        """The values that must not be found afterwards."""
        return tuple(attribute.value for attribute in self.attributes)


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    attributes: tuple[Attribute, ...]
    is_group: bool
    weight: float

    @property
    def facts(self) -> frozenset[str]:
        """Its values, for two attributes of the same value are one fact, and what a request would call them."""
        return frozenset(said for each in self.attributes for said in (each.value.casefold(), in_words(each.key)))


def in_words(key: str) -> str:
    """Write an attribute's key as a person would; the number that only tells it from others of its kind is left out."""
    return _NUMBERING.sub("", key).replace("_", " ")


async def weigh(ask: Asker, attributes: Sequence[Attribute], temperature: float) -> dict[str, int]:
    """Ask how sensitive each attribute is, all in one call; key -> 1 to 10.

    Raises:
        StepFailed: the weights never came.
    """
    degree = {"type": "integer", "minimum": 1, "maximum": MOST_SENSITIVE}
    return await ask.json(
        "weights",
        WEIGHTS.render(attributes=attributes, most=MOST_SENSITIVE),
        json_object(**{attribute.key: degree for attribute in attributes}),
        temperature=temperature,
        max_tokens=40 + TOKENS_PER_WEIGHT * len(attributes),
        check=dict[str, int],
    )


def draw_targets(
    source: Source, weights: Mapping[str, float], config: SanitizationConfig, draw: np.random.Generator
) -> tuple[Target, ...]:
    """Draw one to five targets without replacement.

    Each is a group with probability ``config.group_share`` as long as there are groups, else a single attribute; which
    one is drawn in proportion to its weight among those left. Two targets never share a value or what it is called,
    for one could ask to keep in general terms what the other takes out; so there may be fewer than were asked for.

    Args:
        source: the record.
        weights: key -> sensitivity, above 0, of each of its attributes.
        config: see there.
        draw: where chance comes from.
    """
    count = int(draw.choice(len(COUNT_SHARES), p=COUNT_SHARES)) + 1
    left, chosen = _candidates(source, weights), list[Target]()
    while left and len(chosen) < count:
        wants_group = bool(draw.random() < config.group_share)
        among = [each for each in left if each.is_group == wants_group] or left
        picked = among[_weighted([each.weight for each in among], draw)]
        label: Label = "abstract" if draw.random() < config.abstract_share else "drop"
        chosen.append(Target(picked.name, picked.attributes, picked.is_group, label, picked.weight))
        left = [each for each in left if each.facts.isdisjoint(picked.facts)]
    return tuple(chosen)


def _candidates(source: Source, weights: Mapping[str, float]) -> list[_Candidate]:
    by_key = {attribute.key: attribute for attribute in source.attributes}
    groups = (
        _Candidate(
            group.name,
            tuple(by_key[key] for key in group.keys),
            True,
            sum(weights[key] for key in group.keys) / len(group.keys),
        )
        for group in source.groups
    )
    singles = (
        _Candidate(in_words(attribute.key), (attribute,), False, weights[attribute.key])
        for attribute in source.attributes
    )
    return [*groups, *singles]


def _weighted(weights: Sequence[float], draw: np.random.Generator) -> int:
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends, draw.random() * ends[-1], side="right"))
