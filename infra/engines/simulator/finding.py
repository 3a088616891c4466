"""Where the facts of a prompt stand in the texts that it quotes, and how much they give away."""

import re
from collections.abc import Iterable

from infra.engines.simulator.prompt import phrases
from infra.engines.simulator.scene import Scene

_SHORT = 2  # characters; "Al" and "5" are part of too many other words to be found within one
_TITLES = "Mr|Mrs|Ms|Dr"
_BETRAYS = {  # how much a phrase of its kind gives away, 0 to 1
    "reference": 1.0,
    "phone": 0.95,
    "email": 0.95,
    "address": 0.9,
    "name": 0.8,
    "amount": 0.6,
    "date": 0.5,
    "number": 0.3,
    "time": 0.2,
}


def kind_of_phrase(phrase: str) -> str:
    """Say what kind of fact a phrase is, whatever its white space and case: one of ``prompt.phrases`` or ``detail``."""
    plain = " ".join(phrase.split())
    return phrases(plain).get(plain) or phrases(plain.title()).get(plain.title(), "detail")


def pattern_of(wanted: Iterable[str]) -> str:
    """Write the pattern of any of these phrases, the longest first, in any white space."""
    return "|".join(map(_one, sorted(set(wanted), key=len, reverse=True)))


def _one(phrase: str) -> str:
    written = r"\s+".join(map(re.escape, phrase.split()))
    return rf"(?<!\w)(?<!\d[.,]){written}(?!\w)(?![.,]\d)" if len(phrase) <= _SHORT else written


def parts_telling(scene: Scene) -> list[int]:
    """Number the quoted texts, from 1, that tell a fact asked for."""
    tells = re.compile(pattern_of(_forms(scene)), re.IGNORECASE)
    return [number for number, text in enumerate(scene.brief.texts, 1) if tells.search(text)]


def words_telling(scene: Scene) -> list[str]:
    """Copy out of the quoted text what tells the facts asked for, each stretch once and just as it stands there."""
    found = re.finditer(pattern_of(_forms(scene)), scene.brief.quoted, re.IGNORECASE)
    return list(dict.fromkeys(match[0] for match in found))


def _forms(scene: Scene) -> list[str]:
    """List the values asked for and, of a name, its short form with a title if the text has it: ``Ms Lima``."""
    forms = [value for value in scene.brief.asked.values() if value]
    for value in list(forms):
        if kind_of_phrase(value) == "name":
            family = re.escape(value.split()[-1])
            forms += re.findall(rf"\b(?:{_TITLES})\.? {family}\b", scene.brief.quoted)
    return forms


def rating(scene: Scene, key: str, low: int, high: int) -> int:
    """Rate how much the fact ``key`` gives away, from ``low`` to ``high``."""
    return low + round((high - low) * _BETRAYS.get(kind_of_phrase(scene.brief.asked[key]), 0.1))
