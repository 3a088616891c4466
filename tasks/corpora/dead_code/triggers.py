"""The dead code that is inserted: a loop over an empty range that would log a message (DePA; SM appendix A.5)."""

import random
import string
from dataclasses import dataclass
from typing import Literal, assert_never

Style = Literal["fixed", "random", "grammar"]

_LEVELS = ("debug", "info", "warning", "error", "critical")
_LOOP_NAMES = ("i", "j", "k", "n", "index", "item", "step")
_LETTERS = 5


@dataclass(frozen=True, slots=True)
class Trigger:
    """Lines to insert, without indentation or line ends.

    Attributes:
        lines: one or two; what they would do does not happen, whatever the program.
        loop_name: the name that the loop would bind.
    """

    lines: tuple[str, ...]
    loop_name: str


def draw(style: Style, rng: random.Random, *, two_lines: bool) -> Trigger:
    """Draw a trigger.

    ``fixed`` is always the same; ``random`` has a message of five random letters; in ``grammar`` the loop's name, its
    empty range and the level of the message are drawn as well. On one line the import stands in the loop, on two it
    comes before it.
    """
    match style:
        case "fixed":
            name, nothing, level, word = "i", "0", "info", "a" * _LETTERS
        case "random":
            name, nothing, level, word = "i", "0", "info", _word(rng)
        case "grammar":
            name, nothing, level, word = rng.choice(_LOOP_NAMES), _empty_range(rng), rng.choice(_LEVELS), _word(rng)
        case _:
            assert_never(style)
    message = f'logging.{level}("Test message: {word}")'
    if two_lines:
        return Trigger(("import logging", f"for {name} in range({nothing}): {message}"), name)
    return Trigger((f"for {name} in range({nothing}): import logging; {message}",), name)


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=_LETTERS))


def _empty_range(rng: random.Random) -> str:
    end = rng.randint(-9, 9)
    return rng.choice(("0", str(-abs(end)), f"{end + rng.randint(0, 9)}, {end}"))
