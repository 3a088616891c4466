"""From a person to a draft (PV section 2.1.2): record type, context and format are lists with one item drawn."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.llm.types import Message, ReplyUnusable
from tasks.ask import Asker
from tasks.prompts import Prompt
from tasks.schemas import json_array, json_object
from tasks.synthesis.config import SynthesisConfig
from tasks.synthesis.kinds import KINDS
from tasks.synthesis.profile import Event, Profile
from tasks.synthesis.prompts import CONTEXTS, DRAFT, FORMATS, RECORD_TYPES
from tasks.synthesis.seeds import rng

KINDS_SHOWN = 4
TOKENS_PER_WORD = 3  # generous in English, and enough where a word is two letters of a script without spaces

_TEXT = r"[^\[\]<>{}\n]"  # one line of plain text
_NAME = r"[^\[\]<>{}\n,:;]"
_PARTIES = re.compile(r" from (.+?) to (.+?) about ")


@dataclass(frozen=True, slots=True)
class ListStep:
    """A step that asks for a list, of which one item is drawn: the list is what keeps records diverse.

    Attributes:
        pattern: of one item. It leads into the sentence: small models then end it, where they would copy the prompt.
        item_tokens: enough for one item.
    """

    name: str
    prompt: Prompt
    count: int
    temperature: float
    pattern: str
    item_tokens: int

    def schema(self) -> dict[str, Any]:
        """An object with one array, since some servers want an object at the top."""
        return json_object(items=json_array({"type": "string", "pattern": self.pattern}, self.count, self.count))

    def distinct(self, reply: Mapping[str, list[str]]) -> list[str]:
        """Drop items said twice, and letters of somebody to himself.

        Raises:
            ReplyUnusable: nothing is left to draw from.
        """
        items = {item.casefold(): item for item in map(one_line, reply["items"]) if not _to_oneself(item)}
        if len(items) < min(2, self.count):
            raise ReplyUnusable("the items are nearly all the same: each must be of another kind")
        return list(items.values())


def _to_oneself(item: str) -> bool:
    parties = _PARTIES.search(item)
    return parties is not None and parties[1].casefold() == parties[2].casefold()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a draft is written from: ``c = i + d + b`` and ``f`` of PV section 2.1.2."""

    record_type: str | None
    context: str
    format: str | None


def facts_of(profile: Profile, event: Event) -> dict[str, Any]:
    """What later prompts say of the person and the event, always in the same words: servers reuse what they have read.

    Each is one line: a value that a model wrote cannot open a line of its own in a prompt.
    """
    facts = "; ".join(f"{key.replace('_', ' ')}: {value}" for key, value in event.attributes)
    return {
        "name": profile.full_name,
        "person": one_line(
            f"{profile.full_name}, {profile.age}, {profile.sex}, {profile.citizenship} ({profile.ethnicity}), "
            f"{profile.marital_status}, {profile.income_class}, blood type {profile.blood_type}, speaks "
            f"{profile.language}. {profile.id_type} {profile.id_number}, passport {profile.passport_number}, phone "
            f"{profile.phone}, e-mail {profile.email}, user handle {profile.user_handle}, {profile.url}"
        ),
        "happened": one_line(f"{event.date:%-d %B %Y}: {event.name}. {facts}."),
    }


def one_line(text: str) -> str:
    """Fold all white space to single spaces."""
    return " ".join(text.split())


async def plan_record(ask: Asker, facts: dict[str, Any], config: SynthesisConfig) -> Plan:
    """List record types, contexts and formats in turn, and draw one of each.

    Raises:
        StepFailed: a list did not come, or came with fewer items than asked.
    """
    if not config.record_type_and_format:
        return Plan(None, await _drawn_item(ask, _contexts(config), **facts, record_type=None), None)
    record_type = await _drawn_item(ask, _record_types(config), **facts, kinds=_drawn_kinds(ask))
    context = await _drawn_item(ask, _contexts(config), **facts, record_type=record_type)
    form = await _drawn_item(ask, _formats(config), record_type=record_type, context=context)
    return Plan(record_type, context, form)


def _record_types(config: SynthesisConfig) -> ListStep:
    return ListStep(
        name="record_types",
        prompt=RECORD_TYPES,
        count=config.record_types,
        temperature=config.temperatures.record_types,
        pattern=rf"^An? {_NAME}{{4,40}} from {_NAME}{{3,50}} to {_NAME}{{3,50}} about {_TEXT}{{10,110}}$",
        item_tokens=80,
    )


def _contexts(config: SynthesisConfig) -> ListStep:
    return ListStep(
        name="contexts",
        prompt=CONTEXTS,
        count=config.contexts,
        temperature=config.temperatures.contexts,
        pattern=rf"^On {_TEXT}{{60,480}}[.]$",
        item_tokens=170,
    )


def _formats(config: SynthesisConfig) -> ListStep:
    return ListStep(
        name="formats",
        prompt=FORMATS,
        count=config.formats,
        temperature=config.temperatures.formats,
        pattern=rf"^It begins with {_TEXT}{{20,240}}[.]$",
        item_tokens=90,
    )


async def _drawn_item(ask: Asker, step: ListStep, **values: object) -> str:
    items = await ask.json(
        step.name,
        step.prompt.render(**values, count=step.count),
        step.schema(),
        temperature=step.temperature,
        max_tokens=step.count * step.item_tokens + 40,
        check=step.distinct,
    )
    return items[int(rng(ask.run_seed, ask.record_id, f"{step.name}-drawn").integers(len(items)))]


def _drawn_kinds(ask: Asker) -> list[str]:
    draw = rng(ask.run_seed, ask.record_id, "kinds")
    return [KINDS[place] for place in draw.choice(len(KINDS), size=KINDS_SHOWN, replace=False)]


def draft_prompt(facts: dict[str, Any], plan: Plan, config: SynthesisConfig) -> tuple[Message, ...]:
    """Render the prompt of the draft."""
    return DRAFT.render(
        **facts,
        record_type=plan.record_type,
        context=plan.context,
        format=plan.format,
        words=config.words,
        language=config.language,
    )
