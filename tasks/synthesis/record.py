"""From a person to a draft (PV section 2.1.2): record type, context and format are lists with one item drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.llm.types import Message, ReplyUnusable
from tasks.ask import Asker
from tasks.prompts import Prompt, one_line
from tasks.schemas import json_array, json_object
from tasks.synthesis.config import SynthesisConfig
from tasks.synthesis.kinds import KINDS
from tasks.synthesis.profile import Event, Profile
from tasks.synthesis.prompts import CONTEXTS, DRAFT, FORMATS, RECORD_TYPES
from tasks.synthesis.seeds import rng

TOKENS_PER_WORD = 3  # generous in English, and enough where a word is two letters of a script without spaces


@dataclass(frozen=True, slots=True)
class ListStep:
    """A step that asks for a list, of which one item is drawn: the list is what keeps records diverse."""

    name: str
    prompt: Prompt
    count: int
    temperature: float
    shortest: int  # characters of one item
    longest: int

    def schema(self) -> dict[str, Any]:
        """An object with one array, since some servers want an object at the top."""
        pattern = rf"^[^\[\]<>{{}}\n]{{{self.shortest},{self.longest}}}$"  # one line of plain text
        return json_object(items=json_array({"type": "string", "pattern": pattern}, self.count, self.count))

    def distinct(self, reply: Mapping[str, list[str]]) -> list[str]:
        """Drop items said twice.

        Raises:
            ReplyUnusable: more than half of the items are repetitions.
        """
        items = list({item.casefold(): item for item in map(one_line, reply["items"])}.values())
        if 2 * len(items) < self.count:
            raise ReplyUnusable(f"only {len(items)} of {self.count} items differ: each must be of another kind")
        return items


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
        "name": one_line(profile.full_name),
        "who": one_line(f"{profile.full_name}, {profile.age}, {profile.sex}, {profile.citizenship}"),
        "person": one_line(
            f"{profile.full_name}, {profile.age}, {profile.sex}, {profile.citizenship} ({profile.ethnicity}), "
            f"{profile.marital_status}, {profile.income_class}, blood type {profile.blood_type}, speaks "
            f"{profile.language}. {profile.id_type} {profile.id_number}, passport {profile.passport_number}, phone "
            f"{profile.phone}, e-mail {profile.email}, user handle {profile.user_handle}, {profile.url}"
        ),
        "happened": one_line(f"{event.date:%-d %B %Y}: {event.name}. {facts}."),
    }


async def plan_record(ask: Asker, facts: dict[str, Any], config: SynthesisConfig) -> Plan:
    """List record types, contexts and formats in turn, and draw one of each.

    Raises:
        StepFailed: a list did not come, or came with fewer items than asked.
    """
    heat = config.temperatures
    contexts = ListStep("contexts", CONTEXTS, config.contexts, heat.contexts, 60, 500)
    if not config.record_type_and_format:
        return Plan(None, await _drawn_item(ask, contexts, **facts, record_type=None), None)
    types = ListStep("record_types", RECORD_TYPES, config.record_types, heat.record_types, 12, 160)
    formats = ListStep("formats", FORMATS, config.formats, heat.formats, 20, 300)
    record_type = await _drawn_item(ask, types, **facts, kinds=_drawn_kinds(ask, config.kinds_shown))
    context = await _drawn_item(ask, contexts, **facts, record_type=record_type)
    form = await _drawn_item(ask, formats, record_type=record_type)
    return Plan(record_type, context, form)


async def _drawn_item(ask: Asker, step: ListStep, **values: object) -> str:
    items = await ask.json(
        step.name,
        step.prompt.render(**values, count=step.count),
        step.schema(),
        temperature=step.temperature,
        max_tokens=step.count * step.longest // 2 + 40,
        check=step.distinct,
        invents=True,
    )
    return items[int(rng(ask.run_seed, ask.record_id, f"{step.name}-drawn").integers(len(items)))]


def _drawn_kinds(ask: Asker, count: int) -> list[str]:
    draw = rng(ask.run_seed, ask.record_id, "kinds")
    return [KINDS[place] for place in draw.choice(len(KINDS), size=count, replace=False)]


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
