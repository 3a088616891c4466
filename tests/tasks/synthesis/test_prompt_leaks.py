"""Our own instructions in a record."""

from pathlib import Path

import pytest

import tasks.synthesis.prompts
from tasks.diversity.words import words
from tasks.prompts import quote
from tasks.synthesis.prompt_leaks import prompt_leak

LETTER = "Dear Ana, the second visit was charged twice, and the money comes back within ten days. "


def leak(text: str) -> str | None:
    return prompt_leak(text, words(text))


def literal_lines() -> list[str]:
    folder = Path(tasks.synthesis.prompts.__file__).parent
    lines = [line for path in sorted(folder.glob("*.jinja")) for line in path.read_text(encoding="utf-8").split("\n")]
    return [line for line in lines if len(words(line)) > 9 and "{" not in line]


@pytest.mark.parametrize("line", literal_lines())
def test_each_line_of_our_prompts_is_recognised(line: str) -> None:
    assert leak(LETTER + line)
    assert leak(LETTER + line.upper() + LETTER)


def test_a_fence_of_quoted_text_is_recognised() -> None:
    assert leak(quote(LETTER)) is not None
    assert leak(LETTER + "</text 0a1b2c3d>") == "a fence of our prompts stands in the text: </text 0a1b2c3d>"


def test_ordinary_records_leak_nothing() -> None:
    assert leak(LETTER * 4) is None
    assert leak("<text> is the tag that the form of the bank uses </text>") is None
