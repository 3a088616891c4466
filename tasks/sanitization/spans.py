"""Finding a target (PV section 3.1, step 3, i and ii): the chunks that tell it, and the words in them that do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz

from tasks.ask import Asker
from tasks.sanitization.occurrences import Found, Match
from tasks.sanitization.prompts import RELEVANT, SPANS
from tasks.sanitization.targets import Target
from tasks.schemas import json_array, json_object
from tasks.synthesis.grounding import Folded
from tasks.synthesis.unusable import ReplyInvalid

MOST_SPANS = 12  # of one chunk
MOST_SHOWN = 3  # of the spans that are told to the model as not to be found


@dataclass(frozen=True, slots=True)
class Copied:
    """What a model copied out of one chunk, and what of that stands nowhere in it, not even nearly."""

    found: tuple[Found, ...]
    unmatched: tuple[str, ...]


async def name_chunks(ask: Asker, step: str, target: Target, texts: Sequence[str], temperature: float) -> set[int]:
    """Ask which chunks tell ``target``; the answer may be none.

    Raises:
        StepFailed: no usable list of numbers came.
    """
    number = {"type": "integer", "minimum": 1, "maximum": len(texts)}
    reply: Mapping[str, list[int]] = await ask.json(
        step,
        RELEVANT.render(chunks=texts, name=target.name, attributes=target.attributes),
        json_object(parts=json_array(number, 0, len(texts))),
        temperature=temperature,
        max_tokens=40 + 6 * len(texts),
        check=dict[str, list[int]],
    )
    return {part - 1 for part in reply["parts"]}


async def copy_spans(
    ask: Asker, step: str, target: Target, text: str, *, similarity: float, temperature: float
) -> Copied:
    """Ask for the stretches of ``text`` that tell ``target``.

    One that does not stand there is asked for again, once; then it is looked for by likeness.

    Args:
        ask: the record's.
        step: the step's name.
        target: what is looked for.
        text: the chunk.
        similarity: least likeness of a miscopied stretch to its place, in percent.
        temperature: of the call.

    Raises:
        StepFailed: no usable list came.
    """
    stretch = {"type": "string", "minLength": 1, "maxLength": len(text)}
    return await ask.json(
        step,
        SPANS.render(chunk=text, name=target.name, attributes=target.attributes),
        json_object(spans=json_array(stretch, 0, MOST_SPANS)),
        temperature=temperature,
        max_tokens=100 + 2 * len(text),
        check=_Check(text, similarity),
    )


class _Check:
    """Places what was copied; strict the first time, then by likeness."""

    def __init__(self, text: str, similarity: float) -> None:
        self._text, self._similarity = text, similarity
        self._folded = Folded(text)
        self._strict = True

    def __call__(self, reply: Mapping[str, Any]) -> Copied:
        copied = [span for span in dict.fromkeys(reply["spans"]) if span.strip()]
        places = {span: self._occurrences(span) for span in copied}
        missing = [span for span in copied if not places[span]]
        if missing and self._strict:
            self._strict = False
            shown = ", ".join(repr(span) for span in missing[:MOST_SHOWN])
            raise ReplyInvalid(f"not in the text: {shown}. Copy letter by letter, or leave it out")
        alike = {span: self._alike(span) for span in missing}
        found = [place for span in copied for place in places[span] or alike[span]]
        return Copied(_without_inner(found), tuple(span for span in missing if not alike[span]))

    def _occurrences(self, span: str) -> list[Found]:
        return [self._found(start, stop, span) for start, stop in self._folded.find(span)]

    def _found(self, start: int, stop: int, span: str) -> Found:
        there = self._text[start:stop]
        match: Match = "exact" if there == span else "folded"
        return Found(start, stop, there, match)

    def _alike(self, span: str) -> list[Found]:
        place = fuzz.partial_ratio_alignment(span, self._text, score_cutoff=self._similarity)
        if place is None or not self._text[place.dest_start : place.dest_end].strip():
            return []
        start, stop = place.dest_start, place.dest_end
        return [Found(start, stop, self._text[start:stop], "fuzzy")]


def merged(values: Iterable[Found], copied: Iterable[Found]) -> tuple[Found, ...]:
    """Put the places of values and copied stretches in order, leaving out what lies within another."""
    return _without_inner([*values, *copied])


def _without_inner(found: Iterable[Found]) -> tuple[Found, ...]:
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.stop)):  # stable: values before copies of the same
        if not kept or each.stop > kept[-1].stop:
            kept.append(each)
    return tuple(kept)
