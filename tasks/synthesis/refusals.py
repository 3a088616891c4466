"""Tells a model's refusal from a text in which a person declines something.

A refusal opens the reply and declines an assistant's work: "I can't help with that request". A person's text opens with
a date, a greeting or a name, or declines a person's matter: "I'm sorry, but I can't attend the hearing". The phrases,
in ten languages, are data: ``phrases/refusals.toml``.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

_OPENING_CHARACTERS = 500
_SENTENCES = 4  # a refusal may come after "I'm sorry." and "I understand what you need."
_SHORT_BYTES = 800  # about 130 English words or 260 Hangul syllables: bytes of UTF-8 compare scripts fairly

_APOSTROPHES = str.maketrans(dict.fromkeys("’ʼ‘`´＇", "'"))
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def _load(kind: str) -> re.Pattern[str]:
    """Join one kind of phrases in all languages."""
    phrases = tomllib.loads((Path(__file__).parent / "phrases" / "refusals.toml").read_text(encoding="utf-8"))
    parts: Mapping[str, str] = phrases["parts"]
    alternatives = [alternative for language in phrases[kind].values() for alternative in language]
    for name, part in parts.items():
        alternatives = [alternative.replace(f"{{{name}}}", part) for alternative in alternatives]
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.VERBOSE)


_CERTAIN, _DOUBTFUL, _SOFTENER = _load("certain"), _load("doubtful"), _load("softeners")


def is_refusal(text: str) -> bool:
    """Whether ``text`` is an assistant's refusal; looks at its opening sentences and, in doubt, at its length."""
    opening = text[:_OPENING_CHARACTERS].translate(_APOSTROPHES).lower().strip(" \n\t*_#>\"'“”\ufeff")
    short = len(text.encode("utf-8", "surrogatepass")) <= _SHORT_BYTES
    first, *later = _SENTENCE_END.split(opening)[:_SENTENCES]
    if _CERTAIN.match(first) or (short and _DOUBTFUL.match(first)):
        return True
    if not _SOFTENER.match(first):
        return False
    return any(_CERTAIN.match(sentence) for sentence in later) or (
        short and bool(later) and bool(_DOUBTFUL.match(later[0]))
    )
