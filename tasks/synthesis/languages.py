"""Tells whether a text is mostly in the language that was asked for: by its script, then by its running words.

Names, addresses and codes say little of a text's language: only words without a capital, outside e-mail and web
addresses, are shown to the identifier (``py3langid``, naive Bayes over byte n-grams, 0.3 ms a record). A form may have
next to none of them; it is left unjudged, which is no fault.
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

import regex
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from tasks.synthesis.options import Language

_LEAST_BYTES = 100  # of running words in UTF-8: some 18 English words or 33 Han characters
_ENOUGH_WORDS = 200  # taken evenly from the whole text where it has more
_SLIGHT = 0.02  # a probability of the language asked for below which a text is rejected

_MIXED_SCRIPTS = {"Hans": ("Hani",), "Hant": ("Hani",), "Jpan": ("Hani", "Hira", "Kana"), "Kore": ("Hang",)}
_SECOND_SCRIPTS = {"sr": ("Latn",)}

# What the identifier keeps apart, and nobody who asked for the first would reject.
_CLOSE: dict[str, frozenset[str]] = {
    "ar": frozenset({"ar", "ary", "arz"}),
    "en": frozenset({"en", "pcm"}),
    "fil": frozenset({"tl"}),
    "id": frozenset({"id", "ms"}),
    "ms": frozenset({"ms", "id"}),
    "no": frozenset({"no", "nn"}),
    "sr": frozenset({"sr", "hr", "bs"}),
    "yue": frozenset({"yue", "zh"}),
    "zh": frozenset({"zh", "wuu", "yue"}),
}

_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")
_OWN_SCRIPT = regex.compile(r"[\p{L}--[\p{Common}\p{Inherited}]]", regex.V1)  # letters that one script has to itself


class Fit(StrEnum):
    """How a text's language relates to the one that was asked for."""

    ASKED = "asked"
    OTHER = "other"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class LanguageSeen:
    """A judgement, and the code of the language or script that was seen, empty where unjudged."""

    fit: Fit
    code: str = ""


def judge_language(text: str, asked: Language) -> LanguageSeen:
    """Judge whether ``text`` is mostly in the language ``asked`` for."""
    if not _in_script(text, asked):
        return LanguageSeen(Fit.OTHER, "another script")
    running = _running_words(text)
    accepted = _CLOSE.get(asked.code, frozenset({asked.code}))
    if len(running.encode("utf-8", "surrogatepass")) < _LEAST_BYTES or accepted.isdisjoint(_identifier().labels):
        return LanguageSeen(Fit.UNJUDGED)
    seen, _ = _identifier().classify(running)
    if seen in accepted:
        return LanguageSeen(Fit.ASKED, seen)
    probability = sum(share for code, share in _identifier().rank(running) if code in accepted)
    return LanguageSeen(Fit.ASKED if probability >= _SLIGHT else Fit.OTHER, seen)


def _running_words(text: str) -> str:
    """Leave out capitalised words, which are names more often than not, and whatever looks like an address."""
    plain = " ".join(token for token in text.split() if not ("@" in token or "/" in token or "www." in token))
    words = [word for word in _WORD.findall(plain) if not word[0].isupper()]
    return " ".join(words[:: len(words) // _ENOUGH_WORDS + 1])


def _in_script(text: str, asked: Language) -> bool:
    """Whether a tenth of the letters are of the asked script: less than in any record, however many foreign names."""
    scripts = (*_MIXED_SCRIPTS.get(asked.script, (asked.script,)), *_SECOND_SCRIPTS.get(asked.code, ()))
    counts = Counter[bool | None]()
    for char, count in Counter(text).items():
        counts[_is_letter_of(char, scripts)] += count
    return counts[True] * 9 >= counts[False]


@lru_cache(maxsize=65_536)
def _is_letter_of(char: str, scripts: tuple[str, ...]) -> bool | None:
    """Whether ``char`` is a letter of one of the scripts; None where it is no letter, or one that scripts share."""
    if not _OWN_SCRIPT.match(char):
        return None
    return any(regex.match(rf"\p{{Script={script}}}", char) for script in scripts)


@cache
def _identifier() -> LanguageIdentifier:
    """Load the model on first use: it takes half a second."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
