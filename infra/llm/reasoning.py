"""Splits what a model thought from what it answered. Text without markers passes unchanged, byte for byte."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_THINK = re.compile(r"</?think>")
_HARMONY = re.compile(r"<\|channel\|>(?P<channel>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_HARMONY_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# Servers that drop special tokens leave the channel names glued to the text.
_HARMONY_BARE = re.compile(r"\Aanalysis(?P<reasoning>.*?)assistantfinal(?P<answer>.*)\Z", re.DOTALL)
_FIELDS = ("reasoning_content", "reasoning")  # DeepSeek and older vLLM; OpenRouter, Groq and newer vLLM


class Split(NamedTuple):
    """An answer, and the reasoning that came with it."""

    answer: str
    reasoning: str


def split_message(message: Mapping[str, object]) -> Split:
    """Split an assistant message of the OpenAI protocol, separate reasoning fields included.

    A message without content has an empty answer: whether reasoning may stand for it is not decided here.
    """
    content = message.get("content")
    split = split_text(content) if isinstance(content, str) else Split("", "")
    apart = next((text for name in _FIELDS if isinstance(text := message.get(name), str) and text), "")
    return Split(split.answer, "\n\n".join(part for part in (apart, split.reasoning) if part))


def split_text(text: str) -> Split:
    """Split the markers of harmony channels and ``<think>`` blocks out of ``text``."""
    if "<|channel|>" in text:
        return _split_harmony(text)
    if bare := _HARMONY_BARE.match(text):
        return Split(bare["answer"].strip(), bare["reasoning"].strip())
    if _THINK.search(text):
        return _split_think(text)
    return Split(text, "")


def _split_think(text: str) -> Split:
    """Walk over the tags.

    An opening tag inside a block is text. A closing tag outside of one ends a block whose opening tag the chat template
    had already written: what stood before it was reasoning. A block that never closes runs to the end.
    """
    answers: list[str] = []
    thoughts: list[str] = []
    start, inside = 0, False
    for tag in _THINK.finditer(text):
        opens = tag.group() == "<think>"
        if opens and inside:
            continue
        (answers if opens else thoughts).append(text[start : tag.start()])
        start, inside = tag.end(), opens
    (thoughts if inside else answers).append(text[start:])
    return _joined(answers, thoughts)


def _split_harmony(text: str) -> Split:
    """Keep the ``final`` channel as the answer; every other channel, and text before the first, is reasoning."""
    answers: list[str] = []
    thoughts: list[str] = []
    first = _HARMONY.search(text)
    before = text if first is None else text[: first.start()]
    thoughts.append(re.sub(r"<\|start\|>\w*|<\|\w+\|>", "", before))
    for message in _HARMONY.finditer(text):
        end = _HARMONY_END.search(text, message.end())
        body = text[message.end() : end.start() if end else len(text)]
        (answers if message["channel"] == "final" else thoughts).append(body)
    return _joined(answers, thoughts)


def _joined(answers: list[str], thoughts: list[str]) -> Split:
    reasoning = "\n\n".join(part for thought in thoughts if (part := thought.strip()))
    return Split("".join(answers).strip(), reasoning)
