"""Decomposition (PV section 3.1, Algorithm 1 line 5): a text as chunks short enough to be rewritten well.

A text is cut at its strongest boundaries. Neighbouring pieces that fit into one chunk share it; a piece that is too
long is cut again at its next weaker boundaries. Only where there are none left does a cut fall between two characters,
and only within a character of more code points than a chunk may hold does it fall anywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, auto

import regex

LEAST_LIMIT, MOST_LIMIT = 128, 2048  # code points; the range of PV Figure 5

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a text: ``text[start:stop]``, in code points."""

    start: int
    stop: int
    text: str


class Rank(IntEnum):
    """How natural it is to cut a text at a place."""

    WORD = auto()
    CLAUSE = auto()
    SENTENCE = auto()  # or line
    ITEM = auto()  # of a list, or row of a table
    BLOCK = auto()  # where a list or a table begins or ends
    PARAGRAPH = auto()


Cut = tuple[int, Rank]


def decompose(text: str, limit: int = 512) -> list[Chunk]:
    r"""Cut ``text`` into chunks of at most ``limit`` code points, in time linear in its length.

        "".join(chunk.text for chunk in decompose(text)) == text        for every text

    Raises:
        ValueError: ``limit`` is not within 128 and 2048.
    """
    if not LEAST_LIMIT <= limit <= MOST_LIMIT:
        raise ValueError(f"chunks of at most {limit} characters: give a limit from {LEAST_LIMIT} to {MOST_LIMIT}")
    spans = _split(text, (0, len(text)), list(_block_cuts(text)), limit)
    return [Chunk(start, stop, text[start:stop]) for start, stop in spans if start < stop]


def _split(text: str, span: Span, cuts: Sequence[Cut], limit: int, *, fine: bool = False) -> Iterator[Span]:
    """Yield the spans of one chunk each that make up ``span``.

    Args:
        text: the whole text.
        span: the stretch to be cut.
        cuts: where that may happen, in order, none at its ends.
        limit: most code points of a chunk.
        fine: whether ``cuts`` are those inside of paragraphs already.
    """
    start, stop = span
    if stop - start <= limit:
        yield span
        return
    if not cuts:
        inside = [] if fine else list(_cuts_within(text, span))
        yield from _split(text, span, inside, limit, fine=True) if inside else _between_characters(text, span, limit)
        return
    for piece, weaker in _packed(span, cuts, limit):
        yield from _split(text, piece, weaker, limit, fine=fine)


def _packed(span: Span, cuts: Sequence[Cut], limit: int) -> Iterator[tuple[Span, list[Cut]]]:
    """Cut ``span`` at the strongest of ``cuts``; join neighbours while they fit. The weaker cuts go with each piece."""
    strongest = max(rank for _, rank in cuts)
    start, stop = span
    held, weaker = start, list[Cut]()
    for offset, rank in (*cuts, (stop, strongest)):
        if rank < strongest:
            weaker.append((offset, rank))
            continue
        if offset - held > limit and held < start:
            yield (held, start), []  # it fits: nobody asks for its cuts
            held = start
        if offset - held > limit:
            yield (held, offset), weaker
            held = offset
        start, weaker = offset, []
    if held < stop:
        yield (held, stop), []


def _between_characters(text: str, span: Span, limit: int) -> Iterator[Span]:
    r"""Yield spans as long as they may be that end where a character as a reader sees it (``\X``) ends.

    No more than a chunk is looked at a time: what belongs to one such character is decided by what stands before.
    """
    start, stop = span
    while stop - start > limit:
        # A copy: at a place in a long row of flags, regex counts all flags before it.
        *_, last = _CHARACTER.finditer(text[start : start + limit + 1])
        end = start + (last.start() or limit)
        yield start, end
        start = end
    yield start, stop


# --- between lines ---


class _Kind(Enum):
    PROSE = auto()
    ITEM = auto()
    ROW = auto()


_BULLET = regex.compile(r"[ \t]{0,40}+(?:[-*+•·‣◦▪●○–—]|\(?(?:\d{1,3}|\p{L}|[ivxlc]{2,5})[.)]|[①-⑳])[ \t]")
_INDENTED = regex.compile(r"[ \t]{2}|\t")


def _block_cuts(text: str) -> Iterator[Cut]:
    """Yield the beginnings of paragraphs, lists, tables, and of the items and rows in these."""
    offset, before, blank = 0, None, False
    for line in text.splitlines(keepends=True):
        if line.isspace():
            blank = True
        else:
            kind = _kind(line, before)
            if before is not None and (rank := _rank_between(before, kind, blank=blank, item=_is_item(line))):
                yield offset, rank
            before, blank = kind, False
        offset += len(line)


def _kind(line: str, before: _Kind | None) -> _Kind:
    if _is_item(line) or (before is _Kind.ITEM and _INDENTED.match(line)):  # an item's second line is indented
        return _Kind.ITEM
    bare = line.strip()
    return _Kind.ROW if bare.startswith("|") or bare.count("|") > 1 or "\t" in bare else _Kind.PROSE


def _is_item(line: str) -> bool:
    return _BULLET.match(line) is not None


def _rank_between(before: _Kind, kind: _Kind, *, blank: bool, item: bool) -> Rank | None:
    if before is kind is _Kind.ITEM:  # a list may have blank lines between its items
        return Rank.ITEM if item or blank else None
    if blank:
        return Rank.PARAGRAPH
    if before is kind is _Kind.ROW:
        return Rank.ITEM
    return Rank.BLOCK if before is not kind else None


# --- within a paragraph ---

# Characters that belong to the one before, so that no cut may fall before them even after a space.
_EXTENDS = regex.compile(r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]")
_CHARACTER = regex.compile(r"\X")
_PLACE = regex.compile(r"(?P<space>\s++)|(?P<full>[。！？｡]++[」』”’）]*+\s*+)|[，、；：]++\s*+")

_LONGEST_TITLE = 8  # code points, with what stands before it
_SENTENCE_MARKS, _CLAUSE_MARKS, _CLOSING = ".!?…؟۔।։", ",;:،؛–—", "\"'”’»)]"
_ABBREVIATED = regex.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Mx|Prof|St|Sr|Jr|Rev|Hon|Lt|Col|Gen|Sgt|Capt|No|Nr|vs|etc|approx|e\.g|i\.e|\p{Lu})\.\Z"
)
_LINE_END = regex.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def _cuts_within(text: str, span: Span) -> Iterator[Cut]:
    """Yield the ends of lines, sentences, clauses and words inside of ``span``; white space stays with what it ends."""
    start, stop = span
    for place in _PLACE.finditer(text, start, stop):
        end = place.end()
        if end < stop and not _EXTENDS.match(text, end):
            yield end, _rank_at(text, place)


def _rank_at(text: str, place: "regex.Match[str]") -> Rank:
    start, end = place.span()
    if place["full"]:
        return Rank.SENTENCE
    if not place["space"]:
        return Rank.CLAUSE
    if _LINE_END.search(text, start, end):
        return Rank.SENTENCE
    before = text[max(0, start - _LONGEST_TITLE) : start].rstrip(_CLOSING)
    mark = before[-1:]
    if mark and mark in _SENTENCE_MARKS:
        goes_on = text[end].islower() or (mark == "." and _ABBREVIATED.search(before))
        return Rank.WORD if goes_on else Rank.SENTENCE
    return Rank.CLAUSE if mark and mark in _CLAUSE_MARKS else Rank.WORD
