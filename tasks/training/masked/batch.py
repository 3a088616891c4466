"""Rows of a micro-batch as tensors, and the loss of each token that counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from tasks.training.masked.attention import RowLayout
from tasks.training.masked.rows import Row


@dataclass(frozen=True, slots=True, eq=False)
class RowBatch:
    """Rows end to end, T tokens, K of which count.

    Attributes:
        ids: token ids, shape (1, T).
        positions: place of each token in its piece, shape (1, T).
        layout: what sees what.
        places: where the model predicts a token that counts: the place before it, shape (K,).
        labels: those tokens, shape (K,).
        loss_weight: how much each counts, shape (K,).
        selected: which of them the masking selects, shape (K,).
    """

    ids: torch.Tensor
    positions: torch.Tensor
    layout: RowLayout
    places: torch.Tensor
    labels: torch.Tensor
    loss_weight: torch.Tensor
    selected: torch.Tensor

    @classmethod
    def of(cls, rows: Sequence[Row], device: torch.device) -> Self:
        """Lay out at least one row."""
        ids, labels, weights, blocked, selected = (
            np.concatenate([getattr(row, name) for row in rows])
            for name in ("ids", "labels", "loss_weight", "attention_block", "selected")
        )
        counted = np.flatnonzero(weights > 0)
        positions = np.concatenate([np.arange(size) for row in rows for size in row.pieces])
        return cls(
            ids=_longs(ids, device)[None],
            positions=_longs(positions, device)[None],
            layout=RowLayout.of([row.pieces for row in rows], blocked, device),
            places=_longs(counted - 1, device),
            labels=_longs(labels[counted], device),
            loss_weight=torch.from_numpy(weights[counted]).to(device),
            selected=torch.from_numpy(selected[counted]).to(device),
        )

    def nll(self, model: Callable[..., Any]) -> torch.Tensor:
        """Return the weighted NLL of each token that counts, in nats, shape (K,), at least float32."""
        logits: torch.Tensor = model(
            input_ids=self.ids,
            position_ids=self.positions,
            layout=self.layout,
            logits_to_keep=self.places,
            use_cache=False,
        ).logits[0]
        wide = logits if logits.dtype == torch.float64 else logits.float()
        return cross_entropy(wide, self.labels, reduction="none") * self.loss_weight


def _longs(values: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.int64)).to(device)
