"""Hiding one target (PV section 3.1, step 3; Algorithm 1 lines 16 to 27): found, put into an instruction, applied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.ask import Asker, StepFailed
from tasks.concurrency import map_bounded
from tasks.line_ends import with_line_ends_of
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.edits import check_edit
from tasks.sanitization.occurrences import Found, values_in_chunks
from tasks.sanitization.prompts import ABSTRACTION, APPLY
from tasks.sanitization.replace import replaced
from tasks.sanitization.spans import copy_spans, merged, name_chunks
from tasks.sanitization.targets import Target
from tasks.schemas import json_object

CHUNKS_AT_ONCE = 16  # of one record; how many records are worked on at once is the run's to say
INSTRUCTION_CHARACTERS = (20, 500)
INSTRUCTION_TOKENS = 400


@dataclass(frozen=True, slots=True)
class Edit:
    """What was done to one chunk.

    Attributes:
        chunk: its index.
        named: whether the model named it; else it was found by the value alone.
        spans: what tells the target in it, in order.
        unmatched: what a model claimed to have copied out of it and stands nowhere in it.
        how: ``rewritten`` whole by the model, or, where it could not, with words ``replaced`` span by span.
        after: its text afterwards.
    """

    chunk: int
    named: bool
    spans: tuple[Found, ...]
    unmatched: tuple[str, ...]
    how: Literal["rewritten", "replaced"]
    after: str


@dataclass(frozen=True, slots=True)
class Work:
    """One pass of one target over the chunks; its instruction is empty where no chunk told the target."""

    target: Target
    instruction: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A chunk in which the target stands, before it is edited."""

    chunk: int
    named: bool
    text: str
    spans: tuple[Found, ...]
    unmatched: tuple[str, ...]


async def hide(
    ask: Asker, target: Target, texts: Sequence[str], name: str, config: SanitizationConfig, instruction: str = ""
) -> Work:
    """Hide ``target`` in the chunks ``texts``: all chunks at once, each step for all of them before the next.

    Args:
        ask: the record's.
        target: what to hide.
        texts: the chunks as earlier targets have left them.
        name: tells this pass from others in the names of steps, such as ``2`` or ``2-again``.
        config: see there.
        instruction: of an earlier pass, to be applied again; none is written then.

    Raises:
        StepFailed: a step's replies never became usable; no chunk is half done then, for none is returned.
    """
    places = await _places(ask, target, texts, name, config)
    if not places:
        return Work(target, instruction, ())
    order = instruction or await _instruction(ask, target, places, name, config)

    async def edit(place: _Place) -> Edit:
        how, after = await _applied(ask, target, place, order, f"{name}-{place.chunk}", config)
        return Edit(place.chunk, place.named, place.spans, place.unmatched, how, after)

    return Work(target, order, tuple(await map_bounded(edit, places, CHUNKS_AT_ONCE)))


def applied(texts: Sequence[str], work: Work) -> list[str]:
    """Return the chunks after ``work``; those that it did not edit are untouched."""
    after: Mapping[int, str] = {edit.chunk: edit.after for edit in work.edits}
    return [after.get(index, text) for index, text in enumerate(texts)]


async def _places(
    ask: Asker, target: Target, texts: Sequence[str], name: str, config: SanitizationConfig
) -> list[_Place]:
    """Find the chunks that the model names and those that hold a value: models forget headers and signatures."""
    holding = values_in_chunks(texts, target.values)
    named = await name_chunks(ask, f"relevant-{name}", target, texts, config.cold)

    async def place(chunk: int) -> _Place:
        copied = await copy_spans(
            ask,
            f"spans-{name}-{chunk}",
            target,
            texts[chunk],
            similarity=config.span_similarity,
            temperature=config.cold,
        )
        spans = merged(holding.get(chunk, ()), copied.found)
        return _Place(chunk, chunk in named, texts[chunk], spans, copied.unmatched)

    candidates = sorted(chunk for chunk in named | holding.keys() if texts[chunk].strip())
    found = await map_bounded(place, candidates, CHUNKS_AT_ONCE)
    return [place for place in found if place.spans]  # without a word that tells the target, there is nothing to edit


def drop_instruction(target: Target) -> str:
    """Return the fixed instruction of DROP."""
    return f"Drop the information about {target.name} from the text."


async def _instruction(
    ask: Asker, target: Target, places: Sequence[_Place], name: str, config: SanitizationConfig
) -> str:
    """Write one instruction for all chunks, so that the same fact is put in the same words everywhere."""
    if target.label == "drop":
        return drop_instruction(target)
    shortest, longest = INSTRUCTION_CHARACTERS
    reply: Mapping[str, str] = await ask.json(
        f"abstraction-{name}",
        ABSTRACTION.render(
            chunks=[place.text for place in places],
            name=target.name,
            spans=list(dict.fromkeys(span.text for place in places for span in place.spans)),
        ),
        json_object(instruction={"type": "string", "minLength": shortest, "maxLength": longest}),
        temperature=config.warm,
        max_tokens=INSTRUCTION_TOKENS,
        check=dict[str, str],
        invents=True,
    )
    return " ".join(reply["instruction"].split())


_NOT_REPEATED = ("text_lost", "text_added")  # it understood the task, and could not repeat the rest


async def _applied(
    ask: Asker, target: Target, place: _Place, instruction: str, name: str, config: SanitizationConfig
) -> tuple[Literal["rewritten", "replaced"], str]:
    """Apply ``instruction`` to one chunk; the white space around it, which models drop, and its line ends stay."""
    before = place.text
    core = before.strip()
    lead = len(before) - len(before.lstrip())
    spans = [
        Found(max(0, span.start - lead), min(len(core), span.stop - lead), span.text, span.match)
        for span in place.spans
    ]

    def check(reply: Mapping[str, str]) -> str:
        return check_edit(core, spans, reply["edited"].strip())

    how: Literal["rewritten", "replaced"] = "rewritten"
    try:
        after = await ask.json(
            f"apply-{name}",
            APPLY.render(
                chunk=core, instruction=instruction, spans=list(dict.fromkeys(span.text for span in place.spans))
            ),
            json_object(edited={"type": "string"}),
            temperature=config.cold,
            max_tokens=120 + 2 * len(core),
            check=check,
        )
    except StepFailed as failed:
        if failed.reason not in _NOT_REPEATED:
            raise
        how = "replaced"
        after = await replaced(
            ask,
            f"replace-{name}",
            core,
            spans,
            instruction,
            may_be_empty=target.label == "drop",
            temperature=config.cold,
        )
    return how, before[:lead] + with_line_ends_of(core, after) + before[lead + len(core) :]
