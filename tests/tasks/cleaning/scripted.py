"""A model that does what it is told by a function, in process."""

from collections.abc import Callable

import regex

from infra.llm.fake import FakeBackend
from infra.llm.types import Request

_QUOTED = regex.compile(r"<text ([0-9a-f]{8})>\n(.*?)\n</text \1>", regex.DOTALL)


def asked(request: Request) -> tuple[str, str]:
    """Return the instruction and the text of a request."""
    (_, instruction), (_, text) = _QUOTED.findall(request.messages[-1].content)
    return instruction, text


def rewriting(rewrite: Callable[[str], str]) -> FakeBackend:
    """Return a model that answers with what ``rewrite`` makes of the text."""
    return FakeBackend(lambda request: rewrite(asked(request)[1]))
