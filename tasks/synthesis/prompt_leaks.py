"""Finds our own instructions in a text: a fence of quoted material, or a run of words from one of our prompts."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from tasks.diversity.words import words as cut_words

_FENCE = re.compile(r"</?text [0-9a-f]{8}>")  # what tasks.prompts.quote writes
_RUN = 7  # words; shorter runs also occur in what people write
_NOT_LITERAL = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|^=== \w+ ===$|\n", re.DOTALL | re.MULTILINE)


def prompt_leak(text: str, words: Sequence[str]) -> str | None:
    """Say which of our instructions stands in ``text``, or return None.

    Args:
        text: the record.
        words: its words, as ``tasks.diversity.words.words`` cuts them.
    """
    if fence := _FENCE.search(text):
        return f"a fence of our prompts stands in the text: {fence[0]}"
    leaked = next((run for run in _runs([word.casefold() for word in words]) if run in _instructions()), None)
    return f"words of our prompts stand in the text: {' '.join(leaked)}" if leaked else None


@cache
def _instructions() -> frozenset[tuple[str, ...]]:
    """Collect every run of words of the prompt templates, read from their files so that none is forgotten."""
    templates = sorted((Path(__file__).parent / "prompts").glob("*.jinja"))
    if not templates:
        raise FileNotFoundError(f"no prompt templates beside {__file__}: the installation is incomplete")
    pieces = (piece for template in templates for piece in _NOT_LITERAL.split(template.read_text(encoding="utf-8")))
    return frozenset(run for piece in pieces for run in _runs([word.casefold() for word in cut_words(piece)]))


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(islice(words, start, None) for start in range(_RUN)), strict=False)
