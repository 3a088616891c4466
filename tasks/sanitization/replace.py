"""The last resort of an edit: a model says what stands in place of each span, and code keeps all the rest.

Small models lose half of a text that they are to repeat with one word changed. What they are asked here is short.
"""

from collections.abc import Mapping, Sequence

from infra.llm.types import ReplyUnusable
from tasks.ask import Asker
from tasks.sanitization.edits import check_edit
from tasks.sanitization.occurrences import Found, leaks
from tasks.sanitization.prompts import REPLACE
from tasks.schemas import json_object

WORDS_CHARACTERS = 80


async def replaced(
    ask: Asker,
    step: str,
    chunk: str,
    spans: Sequence[Found],
    instruction: str,
    *,
    may_be_empty: bool,
    temperature: float,
) -> str:
    """Return ``chunk`` with each of ``spans`` replaced by the words that a model gives for it.

    Args:
        ask: the record's.
        step: name of the step.
        chunk: the text.
        spans: in order; those that overlap are replaced as one.
        instruction: what is to be done.
        may_be_empty: whether a span may simply go.
        temperature: of the model.

    Raises:
        StepFailed: no reply gave words that can stand there.
    """
    apart = _apart(chunk, spans)
    texts = list(dict.fromkeys(span.text for span in apart))
    told = [(text, text) for text in texts]

    def check(reply: Mapping[str, str]) -> str:
        words = {text: " ".join(reply[str(number)].split()) for number, text in enumerate(texts, 1)}
        for number, text in enumerate(texts, 1):
            if leaks(words[text], told):
                raise ReplyUnusable(f"number {number} still says what has to go: use general words")
        return check_edit(chunk, spans, _with(chunk, apart, words))

    return await ask.json(
        step,
        REPLACE.render(chunk=chunk, instruction=instruction, spans=texts, may_be_empty=may_be_empty),
        json_object(
            **{
                str(number): {"type": "string", "minLength": 0 if may_be_empty else 1, "maxLength": WORDS_CHARACTERS}
                for number in range(1, len(texts) + 1)
            }
        ),
        temperature=temperature,
        max_tokens=60 + 40 * len(texts),
        check=check,
    )


def _apart(chunk: str, spans: Sequence[Found]) -> list[Found]:
    found: list[Found] = []
    for span in spans:
        if found and span.start < found[-1].stop:
            start, stop = found[-1].start, max(found[-1].stop, span.stop)
            found[-1] = Found(start, stop, chunk[start:stop], found[-1].match)
        else:
            found.append(span)
    return found


def _with(chunk: str, spans: Sequence[Found], words: Mapping[str, str]) -> str:
    parts: list[str] = []
    done = 0
    for span in spans:
        parts += [chunk[done : span.start], words[span.text]]
        done = span.stop
        if not words[span.text] and chunk[: span.start].endswith((" ", "\n")) and chunk[done : done + 1] == " ":
            done += 1  # one of the two blanks that would meet
    return "".join([*parts, chunk[done:]])
