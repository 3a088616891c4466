"""Examples of a micro-batch laid end to end, without padding, none of them seeing another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from transformers import PreTrainedModel

from tasks.surprise.scoring.attention import PACKED, Packing
from tasks.training.examples import IGNORED, Example

_PACKABLE_LAYERS = {"full_attention", "sliding_attention"}


class ModelUnfit(ValueError):
    """The model cannot read several texts side by side without one seeing the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """A row of T tokens, K of which are to be learnt.

    Attributes:
        ids: token ids, shape (1, T).
        packing: where each example begins; attention stays within.
        places: where the model predicts a token that is to be learnt: the place before it, shape (K,).
        labels: those tokens, shape (K,).
        loss_weight: how much each counts, shape (K,).
    """

    ids: torch.Tensor
    packing: Packing
    places: torch.Tensor
    labels: torch.Tensor
    loss_weight: torch.Tensor

    @classmethod
    def of(cls, examples: Sequence[Example], device: torch.device) -> Self:
        """Lay out ``examples``.

        Raises:
            ValueError: there are none, or one has its first token to be learnt, which nothing predicts.
        """
        if not examples:
            raise ValueError("a batch of no examples")
        if first := [example.id for example in examples if example.labels[0] != IGNORED]:
            raise ValueError(f"example {first[0]}: its first token is to be learnt, and nothing stands before it")
        labels = np.concatenate([example.labels for example in examples])
        learnt = np.flatnonzero(labels != IGNORED)
        weights = np.concatenate([example.loss_weight for example in examples])[learnt]
        ids = np.concatenate([example.ids for example in examples])
        return cls(
            ids=_longs(ids, device)[None],
            packing=Packing.of(tuple(example.ids.size for example in examples), device),
            places=_longs(learnt - 1, device),
            labels=_longs(labels[learnt], device),
            loss_weight=torch.from_numpy(weights).to(device),
        )


def pack_attention(model: PreTrainedModel) -> None:
    """Make ``model`` read packed rows: its forward then takes ``packing``.

    Raises:
        ModelUnfit: it has layers that mix texts otherwise than by plain attention.
    """
    layers = set(getattr(model.config.get_text_config(), "layer_types", None) or ())
    if not model._supports_attention_backend or not layers <= _PACKABLE_LAYERS:
        raise ModelUnfit(
            f"{type(model).__name__}: layers other than plain attention ({', '.join(sorted(layers)) or 'unnamed'})"
            " would mix the texts of a batch: train a model of the Qwen3, Qwen2, Llama or Mistral kind"
        )
    model.set_attn_implementation(PACKED)


def _longs(values: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.int64)).to(device)
