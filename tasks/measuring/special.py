"""Tokens that begin and end texts of a model."""

from typing import Any

from transformers import PreTrainedTokenizerBase


def end_tokens(model: Any, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:  # noqa: ANN401
    """Return the tokens after which nothing follows, as the model's folder and its tokenizer say."""
    config = getattr(model, "generation_config", None)
    named = getattr(config, "eos_token_id", None)
    known = named if isinstance(named, list) else [named]
    return frozenset(int(token) for token in (*known, tokenizer.eos_token_id) if token is not None)


def start_token(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """Return the token that stands before a text: BOS or, as in GPT-2, the one that ended the text before."""
    token = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    return None if token is None else int(token)
