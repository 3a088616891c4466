"""Tokens that begin and end texts of a model."""

from typing import Any

from transformers import PreTrainedTokenizerBase

from tasks.training.answers import Answers, ChatUnfit, TemplateUnfit


def end_tokens(model: Any, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:  # noqa: ANN401
    """Return the tokens after which nothing follows.

    They are those that the model's folder and its tokenizer name, and the one that the chat template writes behind an
    answer: a model that was trained on chats from scratch ends its turns with it, whatever its tokenizer calls EOS.
    """
    config = getattr(model, "generation_config", None)
    named = getattr(config, "eos_token_id", None)
    known = named if isinstance(named, list) else [named]
    ends = (*known, tokenizer.eos_token_id, _end_of_turn(tokenizer))
    return frozenset(int(token) for token in ends if token is not None)


def start_token(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """Return the token that stands before a text: BOS or, as in GPT-2, the one that ended the text before."""
    token = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    return None if token is None else int(token)


def _end_of_turn(tokenizer: PreTrainedTokenizerBase) -> int | None:
    try:
        return Answers(tokenizer, 1).end_of_turn
    except (ChatUnfit, TemplateUnfit):  # there is no template, or it ends answers without a special token
        return None
