"""What is to be hidden (PV section 3.1, step 2): attributes or groups, drawn by how sensitive they are."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
_NUMBERING = re.compile(r"(?:_\d+)+$")
COUNT_SHARES = (0.20, 0.22, 0.22, 0.20, 0.16)  # of records with 1, 2, ... 5 targets: 2.9 on average, as in the paper


@dataclass(frozen=True, slots=True)
class Target:
    """Something to be hidden, and how.

    Attributes:
        name: the attribute's key or the group's name, in words.
        attributes: what belongs to it: those called alike, mostly one, or a group's members.
        is_group: whether it was drawn as a group.
        label: whether to generalise it or to take it out.
        weight: how sensitive it is, 1 to 10; the mean of its attributes.
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

    @property
    def is_whole(self) -> bool:
        """Whether enough is in it: two different values make a group."""
        return len({attribute.value.casefold() for attribute in self.attributes}) > (1 if self.is_group else 0)


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
    one is drawn in proportion to its weight among those left. Groups are drawn before single attributes, which would
    leave less of them; the targets come in the order in which their kinds were drawn.

    Single attributes that a request would call the same (``phone``, ``phone_2``) go together. Two targets never share
    a value or what they are called, for one could ask to keep in general terms what the other takes out: a later group
    is what the earlier targets have left of it. So there may be fewer than were asked for.

    Args:
        source: the record.
        weights: key -> sensitivity, above 0, of each of its attributes.
        config: see there.
        draw: where chance comes from.
    """
    count = int(draw.choice(len(COUNT_SHARES), p=COUNT_SHARES)) + 1
    wants_group = [bool(draw.random() < config.group_share) for _ in range(count)]
    candidates, chosen = _candidates(source), dict[int, Target]()
    for place in sorted(range(count), key=lambda place: not wants_group[place]):
        left = list(_left(candidates, chosen.values()))
        if not left:
            break
        among = [each for each in left if each.is_group == wants_group[place]] or left
        degrees = [_mean_weight(each.attributes, weights) for each in among]
        drawn = _weighted(degrees, draw)
        label: Label = "abstract" if draw.random() < config.abstract_share else "drop"
        picked = among[drawn]
        chosen[place] = Target(picked.name, picked.attributes, picked.is_group, label, degrees[drawn])
    return tuple(chosen[place] for place in sorted(chosen))


def _candidates(source: Source) -> list[_Candidate]:
    by_key = {attribute.key: attribute for attribute in source.attributes}
    alike: dict[str, list[Attribute]] = {}
    for attribute in source.attributes:
        alike.setdefault(in_words(attribute.key), []).append(attribute)
    groups = (_Candidate(group.name, tuple(by_key[key] for key in group.keys), True) for group in source.groups)
    singles = (_Candidate(name, tuple(attributes), False) for name, attributes in alike.items())
    return [*groups, *singles]


def _left(candidates: Iterable[_Candidate], chosen: Iterable[Target]) -> Iterator[_Candidate]:
    """Yield what can still be drawn: candidates of another name, without the values that are drawn already."""
    names, values = set[str](), set[str]()
    for target in chosen:
        names.add(target.name.casefold())
        values |= {value.casefold() for value in target.values}
    for each in candidates:
        attributes = tuple(attribute for attribute in each.attributes if attribute.value.casefold() not in values)
        rest = replace(each, attributes=attributes)
        if each.name.casefold() not in names and rest.is_whole:
            yield rest


def _mean_weight(attributes: Sequence[Attribute], weights: Mapping[str, float]) -> float:
    return sum(weights[attribute.key] for attribute in attributes) / len(attributes)


def _weighted(weights: Sequence[float], draw: np.random.Generator) -> int:
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends, draw.random() * ends[-1], side="right"))
