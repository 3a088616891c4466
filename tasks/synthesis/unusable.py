"""The ways in which a reply cannot be used, each with the name it is counted by."""

from typing import ClassVar

from infra.llm.types import ReplyUnusable


class ReplyInvalid(ReplyUnusable):
    """Not the JSON that was asked for, or characters that no text may hold."""

    reason: ClassVar[str] = "invalid_reply"


class ReplyCutOff(ReplyUnusable):
    """The token limit ended the reply: asking again with the same limit would end it again."""

    reason: ClassVar[str] = "cut_off"


class ReplyEmpty(ReplyUnusable):
    """No text at all."""

    reason: ClassVar[str] = "empty_reply"


class ReplyRefused(ReplyUnusable):
    """The model declined, or its provider's content filter did."""

    reason: ClassVar[str] = "refusal"


class ReplyLeaked(ReplyUnusable):
    """Reasoning or chat markup is left in the text."""

    reason: ClassVar[str] = "leaked_markup"
