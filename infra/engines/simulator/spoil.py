"""Content faults: a good answer, turned into what models and servers are known to make of it."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import jsonschema
import orjson

from infra.engines.simulator.config import Fault
from infra.engines.simulator.stock import NOUNS, pick
from infra.engines.simulator.tokens import count_tokens

REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "I’m sorry, but I can’t assist with creating this content.",
    "I cannot generate documents that contain personal information about individuals.",
    "Sorry, I won’t be able to write this, because it involves private data of a person.",
    "As an AI language model, I am not able to produce realistic medical or financial records.",
    "I apologize, but this request goes against my content guidelines.",
    "Unfortunately, I can't comply with this request. I'd be glad to help with something else.",
    "I must decline to create this kind of material.",
    "Es tut mir leid, aber bei dieser Anfrage kann ich nicht helfen.",
    "Lo siento, pero no puedo ayudar con esa solicitud.",
    "Je suis désolé, mais je ne peux pas répondre à cette demande.",
    "죄송합니다. 해당 요청은 도와드릴 수 없습니다.",
    "抱歉，我无法满足这个请求。",
)
_THOUGHTS = (
    "The user wants a complete answer. Let me go through what is given, one fact after the other.",
    "First I should decide who is writing, then the dates have to agree with each other.",
    "I need to keep the names as they are and must not add anything that contradicts the profile.",
    "Let me check the {noun} once more. Yes, that fits.",
    "Maybe shorter is better here. The {noun} should come before the {noun2}.",
    "Okay, I think I have everything now.",
)


@dataclass(frozen=True, slots=True)
class Content:
    """What stands in an answer's message.

    Attributes:
        text: the content; None is null.
        reasoning: what a server that splits reasoning off puts into ``reasoning_content``.
        is_cut: the token limit ended the answer.
    """

    text: str | None
    reasoning: str | None = None
    is_cut: bool = False

    def tokens(self) -> int:
        """Count what was generated, reasoning included."""
        return count_tokens(self.text or "") + count_tokens(self.reasoning or "")


def spoil(fault: Fault | None, text: str, rng: Random, schema: dict[str, Any] | None) -> Content:
    """Apply a content fault to an answer; faults of other kinds leave it as it is."""
    match fault:
        case "truncated":
            return Content(text[: max(1, int(len(text) * (0.3 + 0.5 * rng.random())))], is_cut=True)
        case "empty":
            return Content("")
        case "null_content":
            return Content(None, reasoning=text)
        case "refusal":
            return Content(pick(rng, REFUSALS))
        case "think":
            return Content(f"<think>\n{_thoughts(rng)}\n</think>\n\n{text}")
        case "think_unopened":
            return Content(f"{_thoughts(rng)}\n</think>\n\n{text}")
        case "think_unclosed":
            return Content(f"<think>\n{_thoughts(rng)}\n{_thoughts(rng)}")
        case "invalid_json":
            return Content(_broken(text, rng))
        case "fenced_json":
            return Content(f"{pick(rng, _ANNOUNCEMENTS)}\n\n```json\n{text}\n```")
        case "wrong_schema":
            return Content(_of_another_shape(text, rng, schema or {}))
        case "trailing_comma":
            return Content(f"{text[:-1]},{text[-1]}" if text[-1] in "]}" else f"{text},")
    return Content(text)


def _thoughts(rng: Random) -> str:
    words = {"noun": pick(rng, NOUNS), "noun2": pick(rng, NOUNS)}
    return " ".join(thought.format_map(words) for thought in rng.sample(_THOUGHTS, 3))


_ANNOUNCEMENTS = ("Here is the JSON you asked for:", "Sure! The result follows.", "The answer in the requested format:")

_BREAKS: tuple[Callable[[str], str], ...] = (
    lambda text: text[:-1],  # the last bracket is missing
    lambda text: text.replace('"', "'"),
    lambda text: text.replace(":", " =", 1),
    lambda text: f"{text[:-1]}, ... and so on{text[-1]}",
)


def _broken(text: str, rng: Random) -> str:
    """Break JSON in a drawn way; not every way breaks every value."""
    broken = [way(text) for way in rng.sample(_BREAKS, len(_BREAKS))]
    return next(candidate for candidate in broken if not _is_json(candidate))


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _of_another_shape(text: str, rng: Random, schema: dict[str, Any]) -> str:
    """Rewrite a JSON value so that it is valid JSON, but not under its schema (unless that allows everything)."""
    value = orjson.loads(text)
    shapes: list[Any] = [{"result": value, "confidence": 0.87}, [value], {"answer": "yes"}]
    if isinstance(value, dict):
        shapes += [
            {f"the_{key}": each for key, each in value.items()},
            {key: {"value": each} for key, each in value.items()},
        ]
    rng.shuffle(shapes)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = next((shape for shape in shapes if not validator.is_valid(shape)), shapes[0])
    return orjson.dumps(wrong).decode()
