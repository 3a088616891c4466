"""Trained weights as safetensors that transformers, peft and vLLM load."""

import shutil
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from peft import PeftModel, get_peft_model_state_dict
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from tasks.training.job import TrainingJob

ADAPTER = "adapter"


def gathered(model: torch.nn.Module, *, partitioned: bool) -> dict[str, torch.Tensor]:
    """Return the weights that are trained, on the CPU; every process calls it, those but the first get none.

    Args:
        model: what is trained.
        partitioned: whether each process has but a part of each (ZeRO 3): then one after the other is put together.
    """
    import deepspeed  # type: ignore[import-untyped]  # here: its import takes seconds, and plain torch needs none

    first = dist.get_rank() == 0
    found: dict[str, torch.Tensor] = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        with deepspeed.zero.GatheredParameters([parameter], enabled=partitioned):
            if first:
                found[name] = parameter.detach().to("cpu", copy=True)
    return found


def write_model(
    model: PreTrainedModel | PeftModel,
    state: dict[str, torch.Tensor],
    tokenizer: PreTrainedTokenizerBase,
    asked: TrainingJob,
    target: Path,
) -> None:
    """Write weights, configuration and tokenizer into ``target``: whole, or not at all.

    Adapters (LoRA) are merged into the model that they belong to; ``target/adapter`` has them by themselves.

    Args:
        model: what was trained; of its weights only those in ``state`` are read.
        state: from ``gathered``.
        tokenizer: of the model.
        asked: where the model came from, and how it ends its turn: whatever generates with it has to stop there.
        target: a folder that is not there yet.
    """
    temporary = target.with_name(f".{target.name}.tmp")
    if temporary.exists():  # what a killed process left
        shutil.rmtree(temporary)
    if isinstance(model, PeftModel):
        adapter = temporary / ADAPTER
        _write_adapter(model, state, adapter)
        whole = _merged(asked.source, adapter, model.dtype)
        _end_with(whole, asked.end_of_turn)
        whole.save_pretrained(temporary)
    else:
        _end_with(model, asked.end_of_turn)
        model.save_pretrained(temporary, state_dict=state)
    tokenizer.save_pretrained(temporary)
    temporary.replace(target)


def _end_with(model: PreTrainedModel, token: int) -> None:
    """Make generation end with ``token``, beside the tokens that end it already."""
    ends = model.generation_config.eos_token_id
    known = ends if isinstance(ends, list) else [] if ends is None else [ends]
    if token not in known:
        model.generation_config.eos_token_id = [token, *known]


def _write_adapter(model: PeftModel, state: dict[str, torch.Tensor], target: Path) -> None:
    target.mkdir(parents=True)
    model.peft_config["default"].save_pretrained(str(target))
    tensors = {name: each.contiguous() for name, each in get_peft_model_state_dict(model, state_dict=state).items()}
    save_file(tensors, target / "adapter_model.safetensors", metadata={"format": "pt"})


def _merged(source: str, adapter: Path, dtype: torch.dtype) -> Any:  # noqa: ANN401 - peft has no types
    """Add the adapters in float32: the sum is rounded once."""
    base = AutoModelForCausalLM.from_pretrained(
        source, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
    )
    with warnings.catch_warnings():  # peft asks transformers by a name that goes with its next version
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return PeftModel.from_pretrained(base, str(adapter)).merge_and_unload().to(dtype)
