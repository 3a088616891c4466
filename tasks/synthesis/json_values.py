"""Finds JSON in a reply: strict about what it says, patient about what stands around it."""

import json
import math
import re
from typing import Any, NoReturn

from tasks.synthesis.unusable import ReplyInvalid

# A brace or bracket in a sentence ("{sic}", "[see below]") opens no JSON; "[1]" may be a footnote: tried, no more.
_OPENING = re.compile(r'(?P<sure>\{(?=\s*["}])|\[(?=\s*["{\[\]]))|\[(?=\s*[-\dtfn])')
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)


def find_json(text: str) -> dict[str, Any]:
    """Return every outermost object and array in ``text``, keyed by its canonical JSON; equal ones once.

    Read as meant: trailing commas, raw line breaks inside strings.

    Raises:
        ReplyInvalid: what begins like JSON is broken or cut off, or holds NaN, Infinity, a key twice, NUL or half a
            surrogate pair.
    """
    values: dict[str, Any] = {}
    position = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        try:
            value, position = _decode(text, start)
        except json.JSONDecodeError:
            if not opening["sure"]:
                position = start + 1
                continue
            text = text[:start] + _TRAILING_COMMA.sub(r"\1", text[start:])
            value, position = _decode_or_refuse(text, start)
        values[_canonical(value)] = value
    return values


def _decode_or_refuse(text: str, start: int) -> tuple[Any, int]:
    try:
        return _decode(text, start)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise ReplyInvalid("the JSON ends before it is complete") from None
        raise ReplyInvalid(f"broken JSON in line {error.lineno}, column {error.colno}: {error.msg}") from None


def _decode(text: str, start: int) -> tuple[Any, int]:
    """Decode the value that begins at ``start``; also return where it ends."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ReplyInvalid("JSON nested too deeply") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ReplyInvalid(f"the key {json.dumps(twice)} is given twice")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ReplyInvalid(f"{name} is not JSON: write a number or null")


def _integer(digits: str) -> int:
    if len(digits) > 19:  # more than 64 bits hold; beyond 4,300 digits Python itself refuses
        raise ReplyInvalid(f"a number of {len(digits)} digits: write it as a string")
    return int(digits)


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isinf(number):
        raise ReplyInvalid(f"the number {literal[:20]} is too large")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys,
    parse_constant=_refuse_constant,
    parse_int=_integer,
    parse_float=_finite,
    strict=False,  # a raw line break in a string can mean only itself
)


def _canonical(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True)
    try:
        canonical.encode()
    except UnicodeEncodeError:
        raise ReplyInvalid("half a surrogate pair in a string: write the character whole") from None
    if "\\u0000" in canonical.replace("\\\\", ""):
        raise ReplyInvalid("a NUL character in a string: leave it out")
    return canonical
