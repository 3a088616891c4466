"""Writes strings that match a regular expression, in the part of the language that describes ids, dates and names."""

import re
import string
from collections.abc import Callable
from functools import lru_cache
from random import Random

from infra.engines.simulator.stock import pick, whole

_Writer = Callable[[Random, int], str]  # the number bounds what an open quantifier adds

_ANYTHING = string.ascii_letters + string.digits + " .,-"
_CLASSES = {
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_",
    "s": " ",
    "D": string.ascii_letters + " -",
    "W": " -.,",
    "S": string.ascii_letters + string.digits,
}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_RANGE_LIMIT = 1024  # of a range such as all Han characters this many are enough
_QUANTIFIER = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_ATTEMPTS = 60


class UnsupportedPattern(ValueError):
    """A regular expression that is beyond this writer."""


class Pattern:
    """A regular expression that can be matched against and written."""

    def __init__(self, source: str) -> None:
        try:
            self._matcher = re.compile(source)
        except re.error as error:
            raise UnsupportedPattern(f"pattern {source!r}: {error}") from error
        self.source = source
        self._write = _Parser(source).parse()

    def matches(self, value: str) -> bool:
        """Whether the pattern occurs in ``value``, which is what JSON schema asks."""
        return self._matcher.search(value) is not None

    def write(self, rng: Random, shortest: int, longest: float) -> str:
        """Draw a matching string of the asked number of characters.

        Raises:
            UnsupportedPattern: none was found.
        """
        stretch = 6
        for _ in range(_ATTEMPTS):
            value = self._write(rng, stretch)
            if len(value) < shortest:
                stretch = max(2 * stretch, shortest)
            elif len(value) > longest:
                stretch //= 2
            elif self.matches(value):
                return value
        raise UnsupportedPattern(f"pattern {self.source!r}: no string of {shortest} to {longest} characters found")


@lru_cache(maxsize=4096)
def pattern_of(source: str) -> Pattern:
    """Parse a pattern, once.

    Raises:
        UnsupportedPattern: look-arounds, back-references, boundaries, or not a regular expression.
    """
    return Pattern(source)


class _Parser:
    """Recursive descent over alternatives, sequences, atoms and quantifiers."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def parse(self) -> _Writer:
        return self._alternatives()

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]

    def _next(self) -> str:
        self._at += 1
        return self._source[self._at - 1]

    def _take(self, token: str) -> bool:
        found = self._source.startswith(token, self._at)
        self._at += len(token) * found
        return found

    def _unsupported(self, what: str) -> UnsupportedPattern:
        return UnsupportedPattern(f"pattern {self._source!r}: {what} at {self._at} is not supported")

    def _alternatives(self) -> _Writer:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else lambda rng, stretch: pick(rng, options)(rng, stretch)

    def _sequence(self) -> _Writer:
        parts: list[_Writer] = []
        while self._peek() and self._peek() not in "|)":
            if self._peek() in "^$":
                self._next()
            else:
                parts.append(self._quantified(self._atom()))
        return lambda rng, stretch: "".join([part(rng, stretch) for part in parts])

    def _atom(self) -> _Writer:
        match self._next():
            case "(":
                return self._group()
            case "[":
                return _one_of(self._bracket())
            case ".":
                return _one_of(_ANYTHING)
            case "\\":
                return _one_of(self._escape())
            case literal:
                return _one_of(literal)

    def _group(self) -> _Writer:
        if self._peek() == "?" and not self._take("?:"):
            raise self._unsupported("a special group")
        inner = self._alternatives()
        self._take(")")
        return inner

    def _escape(self) -> str:
        letter = self._next()
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter == "u":
            self._at += 4
            return chr(int(self._source[self._at - 4 : self._at], 16))
        if letter.isalnum() and letter not in _CONTROLS:
            raise self._unsupported(f"\\{letter}")
        return _CONTROLS.get(letter, letter)

    def _bracket(self) -> str:
        negated = self._take("^")
        allowed = ""
        while self._peek() != "]" or not allowed:
            start = self._escape() if self._take("\\") else self._next()
            is_range = self._peek() == "-" and self._source[self._at + 1 : self._at + 2] not in ("]", "")
            if len(start) == 1 and is_range:
                self._next()
                end = self._escape() if self._take("\\") else self._next()
                last = min(ord(end), ord(start) + _RANGE_LIMIT)
                allowed += "".join(map(chr, range(ord(start), last + 1)))
            else:
                allowed += start
        self._next()
        if negated:
            allowed = "".join(letter for letter in _ANYTHING if letter not in allowed)
        if not allowed:
            raise self._unsupported("a class that leaves no letter, digit, space, dot, comma or hyphen")
        return allowed

    def _quantified(self, atom: _Writer) -> _Writer:
        least, most = 1, 1
        if self._take("*"):
            least, most = 0, -1
        elif self._take("+"):
            least, most = 1, -1
        elif self._take("?"):
            least, most = 0, 1
        elif bounds := _QUANTIFIER.match(self._source, self._at):
            self._at = bounds.end()
            least = int(bounds[1])
            most = least if not bounds[2] else int(bounds[3]) if bounds[3] else -1
        else:
            return atom
        self._take("?")  # a lazy quantifier matches the same strings
        return _repeated(atom, least, most)


def _one_of(letters: str) -> _Writer:
    return (lambda rng, stretch: letters) if len(letters) == 1 else (lambda rng, stretch: pick(rng, letters))


def _repeated(atom: _Writer, least: int, most: int) -> _Writer:
    def write(rng: Random, stretch: int) -> str:
        bound = least + stretch if most < 0 else min(most, least + stretch)
        return "".join([atom(rng, stretch) for _ in range(whole(rng, least, bound))])

    return write
