"""Whether a rewritten chunk is that chunk with its target changed and nothing else: a sanitizer is no author."""

from collections.abc import Sequence
from typing import Literal

import regex
from rapidfuzz.distance import Indel

from infra.llm.types import ReplyUnusable
from tasks.sanitization.occurrences import Found
from tasks.synthesis.degenerate import chat_markup, commentary, leaked_reasoning
from tasks.synthesis.refusals import is_refusal

REACH = 8  # words around a span that may change with it: an article, a preposition, the rest of a clause

Reason = Literal["empty_chunk", "refusal", "wrapped", "text_lost", "text_added"]


class EditUnusable(ReplyUnusable):
    """The rewritten chunk cannot take the chunk's place."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self._reason = reason

    @property
    def reason(self) -> str:
        """Name of what is wrong with it."""
        return self._reason


def check_edit(before: str, spans: Sequence[Found], after: str) -> str:
    """Return ``after`` if it can stand in place of ``before``.

    Args:
        before: the chunk.
        spans: what may change in it, with up to ``REACH`` words on each side.
        after: what a model made of it.

    Raises:
        EditUnusable: it is empty, a refusal, wrapped in a fence or in remarks, or changes words away from the spans.
    """
    if not after.strip():
        raise EditUnusable("empty_chunk", "nothing is left of the text: keep all that the instruction does not concern")
    if is_refusal(after) and not is_refusal(before):
        raise EditUnusable("refusal", "the reply refuses the task; the people and facts in it are invented")
    if wrapping := _wrapping(before, after):
        raise EditUnusable("wrapped", f"{wrapping}: give the edited text alone")
    _check_words(before, spans, after)
    return after


_OPENING = regex.compile(
    r"\W*+(?:(?:sure|certainly|of course)[,!.]|here(?:['’]s| is| are) the|below is the|the (?:edited|revised) )",
    regex.IGNORECASE,
)
_OUR_QUOTES = regex.compile(r"</?text [0-9a-f]{8}>")


def _wrapping(before: str, after: str) -> str | None:
    if after.count("```") > before.count("```"):
        return "there is a Markdown fence around it"
    if _OUR_QUOTES.search(after) and not _OUR_QUOTES.search(before):
        return "the marks around the text were copied"
    if _OPENING.match(after) and not _OPENING.match(before):
        return "a remark comes before it"
    for find in (leaked_reasoning, chat_markup, commentary):
        if (slip := find(after)) and not find(before):
            return slip
    return None


_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\w\p{M}'’]+")


def _check_words(before: str, spans: Sequence[Found], after: str) -> None:
    """Align the words of both; each one lost or added must stand near a span."""
    words = list(_WORD.finditer(before))
    near = _near_spans(words, spans)
    old, new = [word[0].casefold() for word in words], [word[0].casefold() for word in _WORD.finditer(after)]
    changes = Indel.opcodes(old, new)
    deleted = (place for each in changes if each.tag == "delete" for place in range(each.src_start, each.src_end))
    if lost := [words[place][0] for place in deleted if place not in near]:
        raise EditUnusable("text_lost", f"{len(lost)} words are missing, such as {lost[0]!r}")
    for change in changes:
        if change.tag == "insert" and near.isdisjoint((change.src_start - 1, change.src_start)):
            added = " ".join(new[change.dest_start : change.dest_end])
            raise EditUnusable("text_added", f"these words are new and have no place there: {added[:80]!r}")


def _near_spans(words: Sequence["regex.Match[str]"], spans: Sequence[Found]) -> set[int]:
    covered = (
        place
        for place, word in enumerate(words)
        if any(word.start() < span.stop and span.start < word.end() for span in spans)
    )
    return {near for place in covered for near in range(place - REACH, place + REACH + 1)}
