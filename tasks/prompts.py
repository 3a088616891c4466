"""Prompt templates: one ``.jinja`` file each, its hash stored with every row it shaped."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import jinja2

from infra.llm.types import Message, Role

_SECTION = re.compile(r"^=== (system|user|assistant) ===\n", re.MULTILINE)


def quote(text: str) -> str:
    """Fence untrusted text so that nothing inside it can end the fence.

    The fence carries a hash of the text: a text that contains its own hash cannot be written by accident or on purpose.
    """
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"<text {mark}>\n{text}\n</text {mark}>"


def one_line(text: str) -> str:
    """Fold all white space, line ends of every kind included, to single spaces: a value stays within its line."""
    return " ".join(text.split())


_ENVIRONMENT = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # plain text for a model, not HTML
    keep_trailing_newline=False,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["quote"] = quote
_ENVIRONMENT.filters["one_line"] = one_line
_ENVIRONMENT.filters["decapitalize"] = lambda text: text[:1].lower() + text[1:]


@dataclass(frozen=True)
class Prompt:
    """A conversation template.

    Roles are split before rendering, so that no value put into a template can open a turn of its own.
    """

    sha: str
    _turns: tuple[tuple[Role, jinja2.Template], ...]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a template of ``=== role ===`` sections.

        Raises:
            ValueError: the file has no section, or text before the first.
        """
        source = path.read_text(encoding="utf-8")
        before, *parts = _SECTION.split(source)
        if before.strip() or not parts:
            raise ValueError(f"{path}: must begin with '=== system ===' or '=== user ==='")
        turns = tuple(
            (role, _ENVIRONMENT.from_string(body.strip())) for role, body in zip(parts[::2], parts[1::2], strict=True)
        )
        return cls(hashlib.sha256(source.encode()).hexdigest()[:16], turns)  # type: ignore[arg-type]

    def render(self, **values: Any) -> tuple[Message, ...]:  # noqa: ANN401 - whatever the template names
        """Fill the template; a name it uses and does not get is an error."""
        return tuple(Message(role, template.render(**values)) for role, template in self._turns)
