"""Pseudonyms: a value that a caller names has one in all texts, and a map that stays here turns them back.

The values are replaced before a model reads the text. A pseudonym is random: it tells its key and nothing of the value.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
from pydantic import BaseModel, ConfigDict

from tasks.cleaning.values import Value
from tasks.synthesis.grounding import Folded, fold

_ALPHABET = "23456789BCDFGHJKMNPQRSTVWXYZ"  # without what is misread, and without vowels: no words come of it
_LENGTH = 5
# A letter or digit that goes on a word; scripts without spaces have no such ends.
_GOES_ON = regex.compile(
    r"[[\p{L}\p{N}\p{M}_]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]", regex.VERSION1
)


class Pseudonym(BaseModel):
    """One entry of a map: the first key that the value had, the value as it was first named, what stands for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    value: str
    pseudonym: str


class PseudonymMap(BaseModel):
    """All pseudonyms of one owner. Whoever has it can undo them: it never leaves this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    pseudonyms: tuple[Pseudonym, ...] = ()

    def with_values(self, values: Iterable[Value]) -> "PseudonymMap":
        """Return a map that knows ``values``, too: one pseudonym for all cases, spaces and forms of a value."""
        known = {fold(each.value)[0].strip() for each in self.pseudonyms}
        taken = {each.pseudonym for each in self.pseudonyms}
        added: list[Pseudonym] = []
        for value in values:
            folded = fold(value.value)[0].strip()
            if folded not in known:
                known.add(folded)
                added.append(Pseudonym(key=value.key, value=value.value, pseudonym=_new(value.key, taken)))
                taken.add(added[-1].pseudonym)
        return PseudonymMap(pseudonyms=(*self.pseudonyms, *added)) if added else self


def _new(key: str, taken: set[str]) -> str:
    label = regex.sub(r"[^A-Z0-9]+", "-", key.upper()).strip("-")[:24] or "VALUE"
    while True:
        pseudonym = f"{label}-{''.join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))}"
        if pseudonym not in taken:
            return pseudonym


@dataclass(frozen=True, slots=True)
class Disguised:
    """A text with pseudonyms in it.

    Attributes:
        text: it.
        replaced: (start, stop, pseudonym) of each value in the original, in order.
    """

    text: str
    replaced: tuple[tuple[int, int, str], ...]

    def origin(self, place: int) -> int:
        """Return where ``place`` of this text is in the original; a place within a pseudonym is where that ends."""
        shift = 0  # how much longer the original is so far
        for start, stop, pseudonym in self.replaced:
            begin = start - shift
            if place <= begin:
                break
            if place < begin + len(pseudonym):
                return stop
            shift += stop - start - len(pseudonym)
        return place + shift


def disguise(text: str, pseudonyms: Sequence[Pseudonym]) -> Disguised:
    """Put the pseudonym in place of each value that stands in ``text`` as words of its own, the longest values first.

    A value in another case, white space or Unicode form is found as well. "Ann" is not replaced within "Annual".
    """
    folded = Folded(text)
    found: list[tuple[int, int, str]] = []
    taken = bytearray(len(text))
    for each in sorted(pseudonyms, key=lambda each: -len(each.value)):
        for start, stop in folded.find(each.value):
            if not any(taken[start:stop]) and not _within_words(text, start, stop):
                taken[start:stop] = b"\1" * (stop - start)
                found.append((start, stop, each.pseudonym))
    found.sort()
    pieces, done = list[str](), 0
    for start, stop, pseudonym in found:
        pieces += [text[done:start], pseudonym]
        done = stop
    return Disguised("".join([*pieces, text[done:]]), tuple(found))


def _within_words(text: str, start: int, stop: int) -> bool:
    return _joins(text[start - 1 : start], text[start]) or _joins(text[stop : stop + 1], text[stop - 1])


def _joins(beyond: str, edge: str) -> bool:
    return bool(beyond and _GOES_ON.match(beyond) and _GOES_ON.match(edge))


def restore(text: str, pseudonyms: Sequence[Pseudonym]) -> str:
    """Put the values back, each as it was first named. Models may have changed the case of a pseudonym."""
    if not pseudonyms:
        return text
    values = {each.pseudonym: each.value for each in pseudonyms}
    names = "|".join(map(regex.escape, sorted(values, key=len, reverse=True)))
    wanted = regex.compile(rf"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])", regex.IGNORECASE)
    return wanted.sub(lambda found: values[found[0].upper()], text)
