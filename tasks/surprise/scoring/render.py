"""Chats as their template renders them, with every message found again by rendering, never by searching.

The same chat is rendered twice: once as it is, once with a mark in place of each message. Between the marks stands
what the template writes, and along it the messages are found in the true rendering, character by character. A message
may lose white space at its ends, and a ``<think>`` block may be moved or dropped, as Qwen3's template does with
earlier turns; anything else that a template does to a message is refused.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from tasks.surprise.documents import Chat, Document, Interval, Label, Region, Turn
from tasks.surprise.scoring.scorer import Text
from tasks.surprise.shard import ChatUnfit, Rendered

Template = Callable[[list[dict[str, str]]], str]
RESPONSE = "response"  # name of the regions

_THOUGHT = re.compile(r"<think>(.*?)</think>(.*)", re.DOTALL)
_PRIVATE_USE = range(0xE000, 0xF8FF)


class NoChatTemplate(ValueError):
    """The tokenizer does not say how chats are rendered."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a message that the template treats as one: all of it, a thought, or what follows a thought."""

    turn: int
    start: int  # in the message
    text: str
    droppable: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a piece, or what is left of it, stands in the rendering."""

    piece: _Piece
    skipped: int  # characters of the piece that were trimmed off before it
    start: int
    end: int


class ChatRenderer:
    """Renders chats by a template.

    Args:
        template: messages (``role`` and ``content``) to text.
    """

    def __init__(self, template: Template) -> None:
        self._template = template

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> "ChatRenderer":
        """Take the template that comes with a tokenizer.

        Raises:
            NoChatTemplate: none does.
        """
        if not tokenizer.chat_template:
            raise NoChatTemplate(
                f"{tokenizer.name_or_path}: its tokenizer has no chat template: take an instruction-tuned reference"
                " model, or write the chats out as texts"
            )

        def template(messages: list[dict[str, str]]) -> str:
            return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=False))

        return cls(template)

    def render(self, chat: Chat) -> Rendered:
        """Render a chat; the contents of assistant turns are supervised, and are its regions.

        Raises:
            ChatUnfit: the template refuses the chat, changes a message beyond recognition, or drops a label.
        """
        text = self._apply(chat, [turn.content for turn in chat.turns])
        places = list(self._places(chat, text))
        responses = [place for place in places if chat.turns[place.piece.turn].role == "assistant"]
        document = Document(
            id=chat.id,
            text=text,
            group=chat.group,
            supervised=tuple(Interval(place.start, place.end) for place in responses),
            labels=tuple(_labels(chat, places)),
            labelled=chat.labelled,
            regions=tuple(Region(place.start, place.end, RESPONSE) for place in responses),
            strata=chat.strata,
        )
        return Rendered(document, Text(text, _between(places, len(text))))

    def _apply(self, chat: Chat, contents: Sequence[str]) -> str:
        messages = [{"role": turn.role, "content": content} for turn, content in zip(chat.turns, contents, strict=True)]
        try:
            return self._template(messages)
        except TemplateError as error:
            raise ChatUnfit(f"the chat template refuses it: {error}") from error

    def _places(self, chat: Chat, text: str) -> Iterator[_Place]:
        pieces = [piece for place, turn in enumerate(chat.turns) for piece in _pieces(place, turn)]
        mark = _unused_mark("".join(turn.content for turn in chat.turns))
        marked = self._apply(chat, _marked(chat, pieces, mark))
        written = re.split(f"{mark}([0-9]+){mark}", marked)  # what the template writes, a number, what it writes, ...
        found = [pieces[int(number)] for number in written[1::2]]
        _check_all_there(pieces, found)
        at = len(written[0])
        if not text.startswith(written[0]):
            raise _changed(0)
        for piece, after in zip(found, written[2::2], strict=True):
            place = _place(piece, text, at, after)
            if place.end > place.start:
                yield place
            at = place.end + len(after)
        if at != len(text):
            raise _changed(len(chat.turns) - 1)


def _pieces(place: int, turn: Turn) -> Iterator[_Piece]:
    """Divide a message, leaving out what is empty: there is nothing to find."""
    thought = _THOUGHT.fullmatch(turn.content) if turn.role == "assistant" else None
    if thought is None:
        spans = [(0, turn.content, False)]
    else:
        spans = [(thought.start(1), thought[1], True), (thought.start(2), thought[2], False)]
    return (_Piece(place, start, text, droppable) for start, text, droppable in spans if text.strip())


def _marked(chat: Chat, pieces: Sequence[_Piece], mark: str) -> list[str]:
    contents = [turn.content for turn in chat.turns]
    for number, piece in reversed(list(enumerate(pieces))):  # from the end, so that starts stay true
        content = contents[piece.turn]
        stop = piece.start + len(piece.text)
        contents[piece.turn] = f"{content[: piece.start]}{mark}{number}{mark}{content[stop:]}"
    return contents


def _unused_mark(contents: str) -> str:
    used = set(contents)
    return next(chr(point) for point in _PRIVATE_USE if chr(point) not in used)


def _check_all_there(pieces: Sequence[_Piece], found: Sequence[_Piece]) -> None:
    for piece in pieces:
        if (count := found.count(piece)) != 1 and not (piece.droppable and count == 0):
            raise ChatUnfit(f"turn {piece.turn}: the chat template writes its content {count} times instead of once")


def _place(piece: _Piece, text: str, at: int, after: str) -> _Place:
    """Find what is left of a piece at ``at``: whole if possible, else without white space at an end."""
    for skipped, kept in _remains(piece.text):
        end = at + len(kept)
        if text.startswith(kept, at) and text.startswith(after, end):
            return _Place(piece, skipped, at, end)
    raise _changed(piece.turn)


def _remains(text: str) -> Iterator[tuple[int, str]]:
    """What trimming may leave of a text, and how much it takes off the front; the most first."""
    yield 0, text
    for characters in ("\n", None):  # what Qwen3 trims off thoughts, and what most templates trim off messages
        front = len(text) - len(text.lstrip(characters))
        yield 0, text.rstrip(characters)
        yield front, text.lstrip(characters)
        yield front, text.strip(characters)


def _changed(turn: int) -> ChatUnfit:
    return ChatUnfit(
        f"turn {turn}: the chat template changes its content in a way that offsets cannot follow: render the chats"
        " yourself and give texts, or take a model with a plainer template"
    )


def _labels(chat: Chat, places: Sequence[_Place]) -> Iterator[Label]:
    for number, turn in enumerate(chat.turns):
        of_turn = [place for place in places if place.piece.turn == number]
        for label in turn.labels:
            moved = [moved for place in of_turn if (moved := _moved(label, place)) is not None]
            if not moved:
                raise ChatUnfit(f"turn {number}: the chat template drops the text of a label at {label.start}")
            yield from moved


def _moved(label: Label, place: _Place) -> Label | None:
    """Move a label from the message to the rendering, cut to what is left there; None if nothing is."""
    shift = place.start - place.piece.start - place.skipped
    start, end = max(label.start + shift, place.start), min(label.end + shift, place.end)
    return Label(start, end, label.category) if start < end else None


def _between(places: Sequence[_Place], length: int) -> tuple[Interval, ...]:
    bounds = [0, *(bound for place in places for bound in (place.start, place.end)), length]
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return tuple(Interval(start, end) for start, end in pairs if start < end)
