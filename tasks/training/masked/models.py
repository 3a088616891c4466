"""The models that are trained: from scratch, or from a folder; all weights, or adapters."""

import warnings
from typing import Any

import peft
import torch
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tasks.training.job import LoraConfig, TrainingJob
from tasks.training.masked.attention import PACKED_ROWS
from tasks.training.masked.config import FromScratch
from tasks.training.packing import pack_attention


def from_scratch(start: FromScratch, tokenizer: PreTrainedTokenizerBase, length: int, seed: int) -> PreTrainedModel:
    """Return a model with random weights.

    Args:
        start: its shape.
        tokenizer: whose vocabulary it gets.
        length: most tokens that it reads.
        seed: of the weights.
    """
    torch.manual_seed(seed)
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    if start.architecture == "gpt2":
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=len(tokenizer),
                n_positions=length,
                n_embd=start.width,
                n_layer=start.layers,
                n_head=start.heads,
                resid_pdrop=0.0,  # as is usual when a model is trained from scratch; the paper does not say
                embd_pdrop=0.0,
                attn_pdrop=0.0,
                **ends,
            )
        )
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=start.width,
            intermediate_size=4 * start.width,
            num_hidden_layers=start.layers,
            num_attention_heads=start.heads,
            num_key_value_heads=start.heads,
            head_dim=start.width // start.heads,
            max_position_embeddings=length,
            tie_word_embeddings=True,
            **ends,
        )
    )


def load_model(asked: TrainingJob, dtype: torch.dtype) -> PreTrainedModel | Any:  # noqa: ANN401 - peft has no types
    """Load what a job starts from, ready to read packed rows, with adapters where these are to be trained.

    Raises:
        ModelUnfit: it has layers other than plain attention, which would mix the pieces of a row.
    """
    torch.manual_seed(asked.seed)  # adapters begin with random numbers
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
        asked.source, dtype=dtype, use_safetensors=True, trust_remote_code=False
    )
    pack_attention(model)  # refuses what cannot be packed
    model.set_attn_implementation(PACKED_ROWS)
    model.train()
    if asked.gradient_checkpointing:
        model.activation_checkpointing_enable({"use_reentrant": False})
    return model if asked.lora is None else with_adapters(model, asked.lora)


def with_adapters(model: PreTrainedModel, lora: LoraConfig) -> Any:  # noqa: ANN401 - peft has no types
    """Put adapters beside every linear layer but the head; they alone are trained (SM App. C.1)."""
    wanted = peft.LoraConfig(
        task_type="CAUSAL_LM",
        target_modules="all-linear",
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
    )
    with warnings.catch_warnings():  # peft asks transformers by a name that goes with its next version
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return peft.get_peft_model(model, wanted)
