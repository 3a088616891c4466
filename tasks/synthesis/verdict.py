"""Reads which of two drafts a judge prefers."""

import re
from enum import StrEnum

from infra.llm.types import JsonSchema, ReplyUnusable
from tasks.synthesis.replies import parse_json


class Verdict(StrEnum):
    """What a judge said of a candidate and the current draft (PV §2.1.3); only ``CANDIDATE`` scores 1."""

    CANDIDATE = "candidate"
    CURRENT = "current"
    UNPARSABLE = "unparsable"


VERDICT_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["1", "2"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}

# Judges that follow no schema also write the digit as a number, or a reason beside it: neither changes the verdict.
_ACCEPTED: JsonSchema = {
    "type": "object",
    "properties": {"verdict": {"enum": ["1", "2", 1, 2]}},
    "required": ["verdict"],
}
_MARKS = r"""[\s*_`"'()\[\]]*"""
_BARE = re.compile(
    rf"{_MARKS}(?:(?:verdict|answer|draft|text|version){_MARKS}:?{_MARKS})?([12])\.?{_MARKS}", re.IGNORECASE
)


def parse_verdict(text: str, *, candidate_first: bool) -> Verdict:
    """Map a judge's reply to the draft it names.

    Only ``{"verdict": "1"}`` or the digit by itself is a verdict. A sentence is none, even with one digit in it:
    "2 is worse" names the loser. What cannot be read favours neither draft.
    """
    digit = _digit(text)
    if digit is None:
        return Verdict.UNPARSABLE
    return Verdict.CANDIDATE if (digit == 1) == candidate_first else Verdict.CURRENT


def _digit(text: str) -> int | None:
    if bare := _BARE.fullmatch(text.lstrip("\ufeff")):
        return int(bare[1])
    try:
        return int(parse_json(text, _ACCEPTED)["verdict"])
    except ReplyUnusable:
        return None
