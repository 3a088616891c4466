"""A Qwen3 with random weights that is small enough to be trained on a processor: to try the way, not to clean texts."""

import torch
from transformers import PreTrainedTokenizerBase, Qwen3Config, Qwen3ForCausalLM


def tiny_qwen3(tokenizer: PreTrainedTokenizerBase, seed: int) -> Qwen3ForCausalLM:
    """Return a model of two layers for a tokenizer's vocabulary; nearly all its weights are that vocabulary."""
    torch.manual_seed(seed)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,  # the smallest that vLLM has kernels for
            max_position_embeddings=8192,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
