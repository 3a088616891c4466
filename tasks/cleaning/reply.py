"""Whether an answer is the clean text and nothing else. What is in doubt is no clean text: a cleaner fails closed."""

import re
from typing import ClassVar

from infra.llm.types import Reply, ReplyUnusable
from tasks.cleaning.diff import has_word, words
from tasks.line_ends import with_line_ends_of
from tasks.sanitization.edits import check_edit
from tasks.sanitization.occurrences import Found
from tasks.synthesis.replies import check_complete
from tasks.synthesis.unusable import ReplyInvalid, ReplyLeaked


class PromptCut(ReplyUnusable):
    """The server has read fewer tokens than there are words in the prompt: it has cut it, and says nothing of it."""

    reason: ClassVar[str] = "prompt_cut"


class TextGrown(ReplyUnusable):
    """The answer is too long to be the same text: general words take little more room than particular ones."""

    reason: ClassVar[str] = "text_grown"


class TextShrunk(ReplyUnusable):
    """Next to nothing is left of the text: a refusal in words that nobody has listed, or something else."""

    reason: ClassVar[str] = "text_shrunk"


class TextUnrelated(ReplyUnusable):
    """No word of the text is left in the answer: it is about something else."""

    reason: ClassVar[str] = "text_unrelated"


FEW_WORDS = 6  # of so short a text all words may go
LEAST_LEFT = 0.1  # words and signs of the answer, for each of the text beyond SPARE_WORDS
MOST_GROWTH = 1.5  # words and signs of the answer, for each of the text
SPARE_WORDS = 40  # beside: of a single line, much may change


# A cleaner's remark on its own work, as a paragraph of its own at either end.
_REMARK = re.compile(
    r"""(?:\A|\n)[\s*_(\[>\#-]*
        (?: (?:please\ )?note(?:\ that)?[:,]?\ [^\n]*\b(?:remov|replac|redact|anonymi|sanitiz|chang|omit|left\ out|drop)
          | (?:i(?:['’]ve|\ have)?|the\ following)\ [^\n]{0,40}
            \b(?:removed|replaced|redacted|anonymi[sz]ed|changed|omitted)\b
          | (?:changes|edits|modifications|redactions)(?:\ i)?(?:\ made)?\s?:
          | (?:here\ is|here['’]s|below\ is|this\ is)\ (?:the|your|a)\ [^\n]{0,60}
            \b(?:text|version|letter|document|message|e-?mail)\b[^\n]{0,60}:[ \t*_]*(?:\n|\Z)
          | (?:sanitized|cleaned|clean|redacted|anonymi[sz]ed|revised|edited)\ (?:text|version)\s?:
        )""",
    re.IGNORECASE | re.VERBOSE,
)
_ENDS = 400  # characters at either end


def check_clean(before: str, reply: Reply, *, prompt_words: int) -> str:
    """Return the clean text that ``reply`` is.

    Args:
        before: the text that was to be cleaned, without white space around it.
        reply: to the request for it.
        prompt_words: words of the request, between white space; each is a token at least.

    Raises:
        ReplyUnusable: it was cut off, is empty, a refusal, wrapped in a fence, remarks, marks or reasoning, holds half
            a surrogate pair, has grown or shrunk too much, has no word of the text, or the server did not read all that
            it was sent; ``reason`` says which.
    """
    if reply.finish_reason == "length":  # more room would not help what is too long already
        _check_growth(len(words(before)), len(words(reply.text)))
    check_complete(reply)
    if 0 < reply.usage.prompt < prompt_words // 2:
        raise PromptCut(f"{reply.usage.prompt} tokens were read of a prompt of {prompt_words} words")
    after = _normalised(reply.text)
    anything = Found(0, len(before), before, "value")  # all of it may change
    check_edit(before, (anything,), after)
    if (remark := _remark(after)) and not _REMARK.search(before):
        raise ReplyLeaked(f"a remark on the work stands in the text: {' '.join(remark.split())[:60]}")
    _check_length(len(words(before)), len(words(after)))
    told = _words(before)
    if len(told) >= FEW_WORDS and told.isdisjoint(_words(after)):
        raise TextUnrelated("no word of the text is in the answer")
    return after


def _words(text: str) -> set[str]:
    return {text[start:stop].casefold() for start, stop in words(text) if has_word(text[start:stop])}


def _check_growth(before: int, after: int) -> None:
    if after > MOST_GROWTH * before + SPARE_WORDS:
        raise TextGrown(f"{after} words and signs in place of {before}")


def _check_length(before: int, after: int) -> None:
    _check_growth(before, after)
    if after < LEAST_LEFT * (before - SPARE_WORDS):
        raise TextShrunk(f"{after} words and signs in place of {before}")


def _remark(text: str) -> str | None:
    found = _REMARK.search(text[:_ENDS]) or _REMARK.search(text[-_ENDS:])
    return found[0] if found else None


def _normalised(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ReplyInvalid(f"half a surrogate pair at character {error.start}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip("\ufeff \t\n")


def in_place_of(before: str, after: str) -> str:
    r"""Return ``after`` with the white space around ``before`` and its kind of line ends, which models drop.

    A text of mixed line ends gets ``\n``.
    """
    core = before.strip()
    lead = len(before) - len(before.lstrip())
    return before[:lead] + with_line_ends_of(before, after) + before[lead + len(core) :]
