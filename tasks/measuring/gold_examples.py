"""Gold answers as examples: what a model is asked how likely it finds it."""

import numpy as np
from transformers import PreTrainedTokenizerBase

from tasks.measuring.special import start_token
from tasks.training.answers import Answers, Chat
from tasks.training.examples import IGNORED, Example


def chat_example(answers: Answers, id_: str, prompt: str, gold: str) -> Example:
    """Return a chat of which the answer counts, with the token that ends it.

    Raises:
        ChatUnfit: it is too long, or the template changes the answer.
    """
    return answers.example(Chat(id_, ({"role": "user", "content": prompt}, {"role": "assistant", "content": gold})))


def document_example(tokenizer: PreTrainedTokenizerBase, id_: str, text: str) -> Example:
    """Return a text of which every token counts but, where there is no start token, the first."""
    start = start_token(tokenizer)
    tokens: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    before = [] if start is None else [start]
    ids = np.array([*before, *tokens], dtype=np.int32)
    labels = ids.copy()
    labels[:1] = IGNORED  # nothing predicts the first
    return Example(id_, ids, labels, (labels != IGNORED).astype(np.float32))
