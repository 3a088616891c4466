"""Tiny models with random weights, a tokenizer trained on the spot, and the plain loop that scoring must equal."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tasks.surprise.scoring.scorer import F32
from tasks.surprise.scoring.tokenizer import TextTokenizer

VOCABULARY = 400
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
SAMPLE = (
    "Please call Jane at 555-0147 tomorrow, she said that her account is 8K0C-QPSD-GDWC and that the report is late.",
    "def add(first, second):\n    return first + second\n\n\nassert add(2, 3) == 5\n",
    "café naïve 🙂 𝒳 日本語 — tokens that are not letters",
)
TEXTS = (
    "x",
    "",
    "Jane 🙂👩‍👩‍👧 called",
    *SAMPLE,
    "one\ntwo\r\nthree",
    " ".join(f"word{i}" for i in range(60)),
    "Jane",
    "lock",
    "café e\u0301",
)


@lru_cache(maxsize=1)
def backend() -> Tokenizer:
    """A byte-level BPE of 400 words, as GPT-2's and Qwen's are."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    special = [AddedToken(text, special=True, normalized=False) for text in SPECIAL]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SAMPLE * 3, trainer)
    return tokenizer


def tokenizer(*, bos: bool) -> TextTokenizer:
    return TextTokenizer(backend(), backend().token_to_id("<|endoftext|>") if bos else None)


def chat_tokenizer(template: str) -> PreTrainedTokenizerFast:
    fast = PreTrainedTokenizerFast(tokenizer_object=backend(), bos_token="<|endoftext|>", eos_token="<|im_end|>")
    fast.chat_template = template
    return fast


_SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,  # so that predictions differ from each other by nats
}


def qwen3(**changes: Any) -> PreTrainedModel:
    return _seeded(Qwen3ForCausalLM, Qwen3Config(**_SIZES | {"head_dim": 16, "tie_word_embeddings": True} | changes))


def llama(**changes: Any) -> PreTrainedModel:
    return _seeded(LlamaForCausalLM, LlamaConfig(**_SIZES | changes))


def gpt2() -> PreTrainedModel:
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512, "vocab_size": VOCABULARY}
    return _seeded(GPT2LMHeadModel, GPT2Config(**sizes, initializer_range=0.3))


def _seeded(kind: Any, config: Any) -> PreTrainedModel:
    torch.manual_seed(7)
    model: PreTrainedModel = kind(config).eval()
    return model


@torch.inference_mode()
def naive_nll(model: PreTrainedModel, ids: Sequence[int], scored: int) -> F32:
    """The definition: one text, the whole logits; NLL of the tokens from ``scored`` on, NaN where there is none."""
    if not ids:
        return np.empty(0, dtype=np.float32)
    logprobs = model(torch.tensor([list(ids)])).logits[0].float().log_softmax(-1)
    nll = [float("nan")] + [-float(logprobs[place - 1, ids[place]]) for place in range(1, len(ids))]
    return np.array(nll[scored:], dtype=np.float32)
