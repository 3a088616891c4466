"""Annotation (PV section 2.1.3): every private attribute of a text, where it stands, and which belong together."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tasks.ask import Asker
from tasks.schemas import json_array, json_object
from tasks.synthesis.grounding import Folded
from tasks.synthesis.profile import Event, Profile
from tasks.synthesis.prompts import ATTRIBUTES, GROUPS, LABEL
from tasks.synthesis.taxonomy import DOMAINS

Source = Literal["profile", "event", "text"]

TOKENS_PER_ATTRIBUTE = 40
GROUPS_TOKENS = 1200
LABEL_TOKENS = 40
MOST_GROUPS = 12
LONGEST_VALUE = 200  # characters

_NOT_A_KEY = re.compile(r"[^a-z0-9]+")
_LABELS = tuple(
    (f"{domain.name} / {subcategory.name}", domain.name, subcategory.name)
    for domain in DOMAINS
    for subcategory in domain.subcategories
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One private fact; the columns of ``tasks.records.ATTRIBUTE``.

    Attributes:
        spans: half-open intervals of code points in the text, one an occurrence.
        grounded: whether there is any; only facts that the model read out of the text may have none.
    """

    key: str
    value: str
    source: Source
    spans: tuple[tuple[int, int], ...]

    @property
    def grounded(self) -> bool:
        """Whether the value occurs in the text after folding case, white space and Unicode form."""
        return bool(self.spans)


@dataclass(frozen=True, slots=True)
class Group:
    """Attributes that somebody could ask to hide together; an attribute may be in several groups."""

    name: str
    keys: tuple[str, ...]


async def annotate(
    ask: Asker, text: str, profile: Profile, event: Event, *, most: int, temperature: float
) -> list[Attribute]:
    """Collect the attributes of ``text``: those of profile and event that stand in it, then those the model finds.

    Raises:
        StepFailed: the model's list never became usable.
    """
    folded = Folded(text)
    known = [
        *_standing_in(folded, profile.facts().items(), "profile"),
        *_standing_in(folded, [("event_date", event.date.isoformat()), *event.attributes], "event"),
    ]
    pair = json_object(
        key={"type": "string", "pattern": "^[a-z][a-z0-9_]{2,39}$"},
        value={"type": "string", "minLength": 1, "maxLength": LONGEST_VALUE},
    )
    reply = await ask.json(
        "attributes",
        ATTRIBUTES.render(text=text, known=[attribute.value for attribute in known]),
        json_object(attributes=json_array(pair, 1, most)),
        temperature=temperature,
        max_tokens=most * TOKENS_PER_ATTRIBUTE,
        check=dict[str, list[dict[str, str]]],
    )
    read = [
        Attribute(item["key"], item["value"].strip(), "text", tuple(folded.find(item["value"].strip())))
        for item in reply["attributes"]
        if item["value"].strip()
    ]
    return _distinct([*known, *read])


def _standing_in(folded: Folded, facts: Iterable[tuple[str, str]], source: Source) -> list[Attribute]:
    found = [Attribute(key, value, source, tuple(folded.find(value))) for key, value in facts]
    return [attribute for attribute in found if attribute.grounded]


def _distinct(attributes: Iterable[Attribute]) -> list[Attribute]:
    """Drop a fact said twice, and number keys that name several facts: keys are unique within a record."""
    kept: dict[str, Attribute] = {}
    values: set[tuple[str, str]] = set()
    for attribute in attributes:
        key = _NOT_A_KEY.sub("_", attribute.key.casefold()).strip("_")
        if (key, attribute.value) in values:
            continue
        values.add((key, attribute.value))
        unique, number = key, 2
        while unique in kept:
            unique, number = f"{key}_{number}", number + 1
        kept[unique] = Attribute(unique, attribute.value, attribute.source, attribute.spans)
    return list(kept.values())


async def group(ask: Asker, attributes: list[Attribute], temperature: float) -> list[Group]:
    """Cluster all attributes under names.

    Raises:
        StepFailed: the model's groups never became usable.
    """
    keys = [attribute.key for attribute in attributes]
    fewest = min(2, len(keys))
    one = json_object(
        name={"type": "string", "minLength": 3, "maxLength": 80},
        keys=json_array({"enum": keys}, fewest, len(keys)),
    )
    reply = await ask.json(
        "groups",
        GROUPS.render(attributes=attributes),
        json_object(groups=json_array(one, 1, max(1, min(MOST_GROUPS, len(keys) // 2)))),
        temperature=temperature,
        max_tokens=GROUPS_TOKENS,
        check=dict[str, list[dict[str, Any]]],
    )
    return [Group(item["name"].strip(), tuple(dict.fromkeys(item["keys"]))) for item in reply["groups"]]


async def label(ask: Asker, text: str, temperature: float) -> tuple[str, str]:
    """Return the (domain, subcategory) of Table 1 that fits ``text`` best.

    Raises:
        StepFailed: no label of the list came back.
    """
    names = {name: (domain, subcategory) for name, domain, subcategory in _LABELS}
    reply: Mapping[str, str] = await ask.json(
        "label",
        LABEL.render(text=text, categories=list(names)),
        json_object(category={"enum": list(names)}),
        temperature=temperature,
        max_tokens=LABEL_TOKENS,
        check=dict[str, str],
    )
    return names[reply["category"]]
