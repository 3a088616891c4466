"""Every message that docs/faq.md quotes is one that the code says."""

import ast
import re
from functools import cache

import pytest

from tests.docs.pages import ROOT

_ROW = re.compile(r"^\| (`{1,2}) ?(.+?) ?\1 \| ", re.MULTILINE)
_TABLES = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8").partition("## Errors")[2]
QUOTED = [message for _, message in _ROW.findall(_TABLES)]
_VALUE = "\0"


@cache
def said() -> tuple[str, ...]:
    """Every text in the code, with a mark where a value is put in."""
    texts = []
    for folder in ("flows", "infra", "tasks"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else _VALUE for part in node.values]
                    texts.append("".join(map(str, parts)))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts.append(node.value)
    return tuple(texts)


def is_said(message: str) -> bool:
    pieces = [re.escape(piece) for piece in message.split("...")]
    pattern = re.compile(f"{_VALUE}.*?".join(pieces), re.DOTALL)
    return any(pattern.search(text) for text in said())


def test_the_page_quotes_messages() -> None:
    assert len(QUOTED) > 25


@pytest.mark.parametrize("message", QUOTED)
def test_a_quoted_message_is_in_the_code(message: str) -> None:
    assert is_said(message), "the code says something else now: quote that"


def test_a_message_that_nobody_says_is_noticed() -> None:
    assert not is_said("the moon is ... made of cheese")
