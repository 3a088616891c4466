"""Finds values that a model left to be filled in: ``[Your Name]``, ``<insert date>``, ``{{name}}``, ``XXX-XXXX``.

Precision first: brackets, masks and blanks also belong to real documents (``[sic]``, ``[12:03]``, ``XXX-XX-4821``, a
line to sign on). The words that such slots are made of are data: ``phrases/slots.toml``.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import regex

_PHRASES = tomllib.loads((Path(__file__).parent / "phrases" / "slots.toml").read_text(encoding="utf-8"))
_COMMANDS, _HEADS, _MODIFIERS = (
    frozenset(word for language in _PHRASES[kind].values() for word in language)
    for kind in ("commands", "heads", "modifiers")
)


def placeholder(text: str) -> str | None:
    """Name the first value of ``text`` that is still to be filled in, or return None."""
    for find in (_filler, _slots, _masks, _blanks):
        for found in find(text):
            return f"a value was left to be filled in: {found.strip()[:60]}"
    return None


# --- lorem ipsum and template fields ---

_FILLER = regex.compile(r"\blorem ipsum\b|\bdolor sit amet\b|\{\{[^{}\n]{1,60}\}\}", regex.IGNORECASE)


def _filler(text: str) -> Iterator[str]:
    return (match[0] for match in _FILLER.finditer(text))


# --- slots in brackets ---

_BRACKETS = regex.compile(
    r"""  [\[［【](?P<inside>[^\[\]［］【】\n]{2,60})[\]］】](?!\()  # not the text of a Markdown link
        | <(?P<inside>[^<>\n/=]{2,60})>
        | (?<!\{)\{(?P<inside>[^{}\n]{2,40})\}
        | \((?P<inside>[Ii]nsert\ [^()\n]{2,60})\)
    """,
    regex.VERBOSE,
)
_SLOT_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*")
_EDITED_QUOTATION = regex.compile(r"(?:the|an?|his|her|their|my|its|and|or|of) [^\p{Lu}]*")  # "[the company] will pay"
_VALUE_AFTER_LABEL = regex.compile(r"[ \t]*[:：]?[ \t]*(?!님|귀하|씨|先生|女士|様|さん)[\p{Lu}\p{Lo}\d]")


def _run_together(words: dict[str, list[str]]) -> regex.Pattern[str]:
    heads, modifiers = ("|".join(sorted(words[kind], key=len, reverse=True)) for kind in ("heads", "modifiers"))
    return regex.compile(rf"(?:{modifiers}|(?P<head>{heads}))+")


_UNSPACED_SLOT = _run_together(_PHRASES["run_together"])


def _slots(text: str) -> Iterator[str]:
    for match in _BRACKETS.finditer(text):
        inside = match["inside"]
        if _is_slot(inside) and not _is_label(text, match) and f"</{inside}>" not in text:
            yield match[0]


def _is_slot(inside: str) -> bool:
    if ":" in inside or sum(char.isdigit() for char in inside) > 1 or _EDITED_QUOTATION.fullmatch(inside):
        return False
    words = [word.replace("’", "'") for word in _SLOT_WORD.findall(inside.casefold().replace("_", " "))]
    if len(words) > 1 and words[0] in _COMMANDS:
        return True
    if not _HEADS.isdisjoint(words) and all(word in _HEADS | _MODIFIERS | _COMMANDS for word in words):
        return True
    unspaced = _UNSPACED_SLOT.fullmatch("".join(words))
    return unspaced is not None and unspaced["head"] is not None


def _is_label(text: str, match: regex.Match[str]) -> bool:
    """Whether the bracket opens a line and its value follows, as in ``[Date of birth] 4 May 1961``."""
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    commanded = match["inside"].casefold().split()[0] in _COMMANDS
    return not before.strip(" \t-*•") and not commanded and bool(_VALUE_AFTER_LABEL.match(text, match.end()))


# --- masks ---

_X_RUN = regex.compile(r"(?<!\w)(?>X{2,}(?:[-–./ ]X{2,}){0,6}|x{3}(?:[-. ]x{3,4}){1,6})(?!\w|[-–./ ]?\d)")
_ROMAN_THIRTY = regex.compile(
    r"\b(?:bowl|chapter|article|part|volume|vol\.|section|title|book|psalm|annex|appendix|schedule|exhibit|no\.) $",
    regex.IGNORECASE,
)
_CJK_MASK = regex.compile(
    r"(?<![A-Za-z0-9])X{2,}(?=(?!染)\p{Han})|(?<!\w)×{2,}(?=\p{Han})"
    r"|(?<![一二三四五六七八九十\d〇○◯])[〇○◯]{2,}(?![一二三四五六七八九十\d年])"
)


def _masks(text: str) -> Iterator[str]:
    """Find runs of X; ``XXX-XX-4821`` hides part of a real value, "love you XXX" ends a message."""
    for run in _X_RUN.finditer(text):
        grouped = len(run[0].strip("Xx")) > 0 and "xxx" in run[0].lower()
        if grouped or (len(run[0]) > 2 and _stands_for_a_value(text, run)):
            yield run[0]
    yield from (match[0] for match in _CJK_MASK.finditer(text))


def _stands_for_a_value(text: str, run: regex.Match[str]) -> bool:
    before = text[max(0, run.start() - 12) : run.start()]
    if before.rstrip(" ").endswith((":", "：", "#", "$", "€", "£", "-")):
        return True
    ends_line = text[run.end() : run.end() + 1] in ("", "\n")
    return not ends_line and not (len(run[0]) == 3 and _ROMAN_THIRTY.search(before))


# --- blanks ---

_BLANK = regex.compile(r"(?<![\p{L}\p{N}_])_{3,}(?![\p{L}\p{N}])")
_LABEL_BEFORE = regex.compile(r"([\p{L}\p{M}'’-]+)\s*[:：]?\s*$")
_LEFT_BLANK_ON_PURPOSE = regex.compile(
    r"sign|initial|witness|notary|print|office use|\bdate\b|unterschrift|datum|firma\b|fecha|assin|podpis|imza"
    r"|подпись|дата|서명|날짜|签|簽|署名|印",
    regex.IGNORECASE,
)
_BLANKS_IN_A_DRAFT = 3


def _blanks(text: str) -> Iterator[str]:
    """Find ``Name: ____``, and other blanks within lines from the third on; not lines to sign on, nor rules."""
    others: list[str] = []
    for line in _lines_with_blanks(text):
        for blank in _BLANK.finditer(line):
            label = _LABEL_BEFORE.search(line, endpos=blank.start())
            if label and label[1].casefold() in _HEADS:
                yield line
            elif line[: blank.start()].strip():
                others.append(line)
    if len(others) >= _BLANKS_IN_A_DRAFT:
        yield others[0]


def _lines_with_blanks(text: str) -> Iterable[str]:
    return (line for line in text.split("\n") if "___" in line and not _LEFT_BLANK_ON_PURPOSE.search(line))
