"""Chats as examples of which only the last answer is learnt, exactly as the model will be asked to give it.

The prompt is what the chat template makes of the turns before, ready for an answer, thinking off: with Qwen3 that ends
with an empty ``<think>`` block. Prompt and answer become tokens apart, as they do when a model answers: no token spans
the boundary. Learnt are the tokens of the answer and the one that ends the turn, nothing else. That the template would
render the finished chat in the same way is checked for each one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from tasks.training.examples import IGNORED, Example

Reason = Literal["too_long", "special_token", "empty_answer", "template"]

_NO_THOUGHT = re.compile(r"<think>\s*</think>\s*\Z")
_PRIVATE_USE = range(0xE000, 0xF8FF)


class TemplateUnfit(ValueError):
    """The tokenizer's chat template cannot be trained with. The message says why."""


class ChatUnfit(ValueError):
    """A chat cannot be an example.

    Attributes:
        reason: why, in one word.
    """

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Chat:
    """Messages (``role``, ``content``), the last of which is the answer to be learnt."""

    id: str
    messages: tuple[dict[str, str], ...]


class Answers:
    """Makes examples of chats.

    Args:
        tokenizer: of the model, with a chat template.
        most_tokens: a longer example is refused: it is never cut.

    Raises:
        TemplateUnfit: there is no template, or no special token that ends an answer.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, most_tokens: int) -> None:
        if not tokenizer.chat_template:
            raise TemplateUnfit(
                f"{tokenizer.name_or_path}: its tokenizer has no chat template: take an instruction-tuned model"
            )
        self._tokenizer = tokenizer
        self._most_tokens = most_tokens
        self._special = {token.content: id_ for id_, token in tokenizer.added_tokens_decoder.items() if token.special}
        self._anything_special = re.compile("|".join(map(re.escape, self._special)) or r"(?!)")
        self.end_of_turn = self._find_end_of_turn()

    def example(self, chat: Chat) -> Example:
        """Return a chat as an example.

        Raises:
            ChatUnfit: it is too long, its answer is empty, a message writes a special token out, or the template
                changes the answer.
        """
        *asked, answer = chat.messages
        if answer["role"] != "assistant":
            raise ChatUnfit(f"{chat.id}: the last turn is of {answer['role']}, not of the assistant", "template")
        if not answer["content"].strip():
            raise ChatUnfit(f"{chat.id}: the answer is empty", "empty_answer")
        if any(self._anything_special.search(message["content"]) for message in chat.messages):
            raise ChatUnfit(f"{chat.id}: a message writes out a special token of the model", "special_token")
        prompt = self._checked_prompt(chat.id, asked, answer)
        prompt_ids, answer_ids = self._ids(prompt), [*self._ids(answer["content"]), self.end_of_turn]
        tokens = len(prompt_ids) + len(answer_ids)
        if tokens > self._most_tokens:
            raise ChatUnfit(f"{chat.id}: {tokens} tokens, at most {self._most_tokens} are allowed", "too_long")
        labels = np.array([IGNORED] * len(prompt_ids) + answer_ids, dtype=np.int32)
        ids = np.array(prompt_ids + answer_ids, dtype=np.int32)
        return Example(chat.id, ids, labels, (labels != IGNORED).astype(np.float32))

    def _checked_prompt(self, id_: str, asked: Sequence[dict[str, str]], answer: dict[str, str]) -> str:
        """Return the prompt, when the finished chat renders as the same prompt, the answer, and the end of the turn."""
        mark = _unused("".join(message["content"] for message in (*asked, answer)))
        prompt = self._render(id_, asked, ready=True)
        whole = self._render(id_, [*asked, answer], ready=False)
        head, found, tail = self._render(id_, [*asked, {**answer, "content": mark}], ready=False).partition(mark)
        content = answer["content"]
        kept = (content, content.rstrip(), content.lstrip("\n"), content.strip("\n"), content.strip())
        if not found or whole not in {head + each + tail for each in kept}:
            raise ChatUnfit(f"{id_}: the chat template changes the answer or what is around it", "template")
        if _NO_THOUGHT.sub("", head) != _NO_THOUGHT.sub("", prompt):
            raise ChatUnfit(
                f"{id_}: the chat template asks for an answer in other words than it tells one that was given",
                "template",
            )
        return prompt

    def _find_end_of_turn(self) -> int:
        """Return the special token that the template writes right after an answer."""
        mark = chr(_PRIVATE_USE[0])
        turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": mark}]
        _, _, tail = self._render("the template", turns, ready=False).partition(mark)
        if match := self._anything_special.match(tail):
            return self._special[match.group()]
        raise TemplateUnfit(
            f"{self._tokenizer.name_or_path}: its chat template ends an answer without a special token: a model"
            " trained by it would not know when to stop; take an instruction-tuned model"
        )

    def _render(self, id_: str, messages: Sequence[dict[str, str]], *, ready: bool) -> str:
        try:
            return str(
                self._tokenizer.apply_chat_template(
                    list(messages), tokenize=False, add_generation_prompt=ready, enable_thinking=False
                )
            )
        except TemplateError as error:
            raise ChatUnfit(f"{id_}: the chat template refuses it: {error}", "template") from error

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids


def _unused(text: str) -> str:
    used = set(text)
    return next(chr(point) for point in _PRIVATE_USE if chr(point) not in used)
