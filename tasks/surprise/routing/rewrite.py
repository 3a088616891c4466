"""Rewriting the sentences that were selected, or a whole document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infra.llm.types import Message
from tasks.ask import Asker, StepFailed
from tasks.concurrency import map_bounded
from tasks.schemas import json_object
from tasks.surprise.routing.config import RoutingConfig
from tasks.surprise.routing.prompts import REWRITE_DOCUMENT, REWRITE_SENTENCE
from tasks.synthesis.unusable import ReplyEmpty

CALLS_AT_ONCE = 8  # of one document; how many documents are worked on at once is the run's to say
GONE = "[REDACTED]"  # in place of what no reply was usable for: it was selected because it may be private
SPARE_TOKENS = 160


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A document after an intervention.

    Attributes:
        text: afterwards.
        sent: pieces that went to the model.
        failed: of them, those without a usable reply, replaced by ``GONE``.
    """

    text: str
    sent: int
    failed: int


async def rewrite_sentences(
    ask: Asker, text: str, spans: Sequence[tuple[int, int]], config: RoutingConfig
) -> Rewritten:
    """Rewrite sentences of a text, each in its surroundings; the white space around a sentence stays.

    Args:
        ask: of this document.
        text: the source.
        spans: disjoint, in order.
        config: see there.
    """

    async def one(span: tuple[int, int]) -> str | None:
        first, last = span
        sentence = text[first:last]
        core = sentence.strip()
        if not core:
            return sentence
        around = text[max(0, first - config.context_characters) : last + config.context_characters]
        prompt = REWRITE_SENTENCE.render(context=around, sentence=core, private=config.private)
        reply = await _reply(ask, f"sentence-{first}", prompt, core, config)
        lead = len(sentence) - len(sentence.lstrip())
        return None if reply is None else sentence[:lead] + reply + sentence[lead + len(core) :]

    replies = await map_bounded(one, spans, CALLS_AT_ONCE)
    pieces: list[str] = []
    done = 0
    for (first, last), reply in zip(spans, replies, strict=True):
        pieces += [text[done:first], _gone(text[first:last]) if reply is None else reply]
        done = last
    return Rewritten("".join([*pieces, text[done:]]), len(spans), sum(reply is None for reply in replies))


async def rewrite_document(ask: Asker, text: str, config: RoutingConfig) -> Rewritten:
    """Rewrite a whole text in one call."""
    core = text.strip()
    if not core:
        return Rewritten(text, 0, 0)
    reply = await _reply(ask, "document", REWRITE_DOCUMENT.render(text=core, private=config.private), core, config)
    return Rewritten(GONE if reply is None else reply, 1, int(reply is None))


async def _reply(ask: Asker, step: str, prompt: Sequence[Message], source: str, config: RoutingConfig) -> str | None:
    def check(reply: Mapping[str, str]) -> str:
        rewritten = reply["rewritten"].strip()
        if not rewritten:
            raise ReplyEmpty("nothing is left: give the rewritten text")
        return rewritten

    try:
        return await ask.json(
            step,
            prompt,
            json_object(rewritten={"type": "string"}),
            temperature=config.temperature,
            max_tokens=SPARE_TOKENS + len(source),  # a token has a character at least, and JSON adds little
            check=check,
        )
    except StepFailed:
        return None


def _gone(sentence: str) -> str:
    lead, end = len(sentence) - len(sentence.lstrip()), len(sentence.rstrip())
    return sentence[:lead] + GONE + sentence[end:]
