"""Chats to train the cleaner on, and what a row has to be to become one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.training.answers import Chat
from tasks.training.cleaner.prepare import DataUnfit


@dataclass(frozen=True, slots=True)
class Chats:
    """Chats to train on and to validate with.

    Attributes:
        sources: what they were read from: name -> SHA-256 of its content.
    """

    train: list[Chat]
    validation: list[Chat]
    sources: Mapping[str, str]


def chat_of(row: Mapping[str, Any], place: str) -> Chat:
    """Read a row with the columns ``record_id`` and ``messages``.

    Raises:
        DataUnfit: it has not, or a message is not a role and its content.
    """
    try:
        messages = tuple({"role": each["role"], "content": each["content"]} for each in row["messages"])
        chat = Chat(row["record_id"], messages)
    except (KeyError, TypeError) as error:
        raise DataUnfit(f"{place}: a row needs record_id and messages with role and content") from error
    texts = [chat.id, *(text for each in messages for text in each.values())]
    if not chat.id or not messages or not all(isinstance(text, str) for text in texts):
        raise DataUnfit(f"{place}: record_id {chat.id}: an id, a role or a content is missing, or no text")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise DataUnfit(f"{place}: record_id {chat.id!a}: half a surrogate pair: no tokenizer takes it") from error
    return chat
