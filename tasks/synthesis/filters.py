"""The last word on a record: kept, or rejected with a named reason (PV section 2.1.4, ``privasis.md`` section 1)."""

from collections.abc import Callable
from dataclasses import dataclass

from tasks.diversity.words import count_words, words
from tasks.synthesis.degenerate import chat_markup, commentary, cut_off, leaked_reasoning, repetition
from tasks.synthesis.languages import Fit, judge_language
from tasks.synthesis.options import Language
from tasks.synthesis.placeholders import placeholder
from tasks.synthesis.prompt_leaks import prompt_leak
from tasks.synthesis.refusals import is_refusal

LEAST_WORDS = 64
LEAST_AGE = 18
_ENOUGH_TEXT = 700  # characters, which mostly hold 64 words: a long text need not be counted whole


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a record is not kept.

    Attributes:
        reason: a short name to count by.
        detail: one sentence for a person.
    """

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    words: list[str]
    language: Language


def degenerate(text: str, language: Language) -> Rejection | None:
    """Return the first reason for which ``text`` is no record of anybody, whoever it is about; or None."""
    candidate = _Candidate(text, words(text), language)
    for reason, find in _FILTERS:
        if detail := find(candidate):
            return Rejection(reason, detail)
    return None


def under_age(age: int) -> Rejection | None:
    """Reject a record of a person under 18."""
    return Rejection("under_age", f"the person is {age}") if age < LEAST_AGE else None


def refusal(text: str) -> str | None:
    """Find a model's refusal in place of the text."""
    return "the text is a model's refusal" if is_refusal(text) else None


def too_short(text: str) -> str | None:
    """Find fewer than 64 words."""
    if count_words(text[:_ENOUGH_TEXT]) >= LEAST_WORDS:
        return None
    counted = count_words(text)
    return f"{counted} words, fewer than {LEAST_WORDS}" if counted < LEAST_WORDS else None


def wrong_language(text: str, language: Language) -> str | None:
    """Find a text that is mostly not in the language it was asked in; one that cannot be judged passes."""
    seen = judge_language(text, language)
    return f"asked in {language.name}, written in {seen.code}" if seen.fit is Fit.OTHER else None


# Where several apply, the first is the true reason: a refusal is also short, a loop often ends in mid-sentence.
_FILTERS: tuple[tuple[str, Callable[[_Candidate], str | None]], ...] = (
    ("refusal", lambda record: refusal(record.text)),
    ("leaked_reasoning", lambda record: leaked_reasoning(record.text)),
    ("chat_markup", lambda record: chat_markup(record.text)),
    ("prompt_leak", lambda record: prompt_leak(record.text, record.words)),
    ("too_short", lambda record: too_short(record.text)),
    ("placeholder", lambda record: placeholder(record.text)),
    ("repetition", lambda record: repetition(record.text, record.words)),
    ("wrong_language", lambda record: wrong_language(record.text, record.language)),
    ("commentary", lambda record: commentary(record.text)),
    ("cut_off", lambda record: cut_off(record.text)),
)

FILTER_REASONS = frozenset({"under_age", *(reason for reason, _ in _FILTERS)})
