"""From chats to the examples that are trained on, and a list of those that are not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tasks.training.answers import Answers, Chat, ChatUnfit, Reason
from tasks.training.examples import Example

TooLong = Literal["leave_out", "fail"]
_TOLD = 10  # ids in a message


class DataUnfit(ValueError):
    """There is nothing to train on, or something that was not to be left out. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Examples of one split, and the ids of the chats that could not become one, by reason."""

    examples: list[Example] = field(default_factory=list)
    left_out: Mapping[Reason, list[str]] = field(default_factory=dict)


def prepare(chats: Iterable[Chat], answers: Answers, too_long: TooLong) -> Prepared:
    """Make examples of chats, in their order.

    Raises:
        DataUnfit: an id repeats, or a chat is too long and that was to be a failure.
    """
    examples: list[Example] = []
    left_out: dict[Reason, list[str]] = {}
    seen: set[str] = set()
    for chat in chats:
        if chat.id in seen:
            raise DataUnfit(f"record_id {chat.id} stands there twice: an example has to be told apart by its id")
        seen.add(chat.id)
        try:
            examples.append(answers.example(chat))
        except ChatUnfit as error:
            left_out.setdefault(error.reason, []).append(chat.id)
    if too_long == "fail" and (ids := left_out.get("too_long")):
        more = f" and {len(ids) - _TOLD} more" if len(ids) > _TOLD else ""
        raise DataUnfit(
            f"{len(ids)} of {len(seen)} chats have too many tokens: {', '.join(ids[:_TOLD])}{more}: raise --length, or"
            " leave them out with --too-long leave_out"
        )
    return Prepared(examples, left_out)
