"""Text of others (of records, models, paths) in Markdown that is shown as HTML: as itself, and never as markup."""

import re

from tasks.report.marks import visible

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>:@$^=])")
_BACKTICKS = re.compile(r"`+")
LEAST_FENCE = 3


def escaped(text: str) -> str:
    """Return ``text`` for a line of Markdown: one line, no markup, no HTML, no link that was not written as one."""
    line = " ".join(visible(text).split())
    html = line.replace("&", "&amp;").replace("<", "&lt;")
    return _MARKUP.sub(r"\\\1", html)


def cell(text: str) -> str:
    """Return ``text`` for a cell of a table artifact, which shows text as it is, and links where it looks like one."""
    return " ".join(visible(text).split()).replace("://", ":\u2060//")


def fenced(text: str) -> str:
    """Return ``text`` as a block in which nothing is markup, whatever it holds."""
    shown = visible(text)
    fence = "`" * max(LEAST_FENCE, 1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    return f"{fence}text\n{shown}\n{fence}"


def code(text: str) -> str:
    """Return ``text`` as code within a line."""
    line = " ".join(visible(text).split())
    ticks = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    return f"{ticks} {line} {ticks}" if "`" in line else f"{ticks}{line}{ticks}"
