"""Attention within pieces of packed rows, in which some tokens are invisible to all others.

A token that is blocked is no key for any other position: what it holds reaches no later position by any path, in no
layer. Its own position still sees it: the residual stream carries it there in any case, and a piece that begins with
one would have nothing to attend to. So a blocked token shapes the prediction of the one right after it, no other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from tasks.surprise.rows import Bool
from tasks.surprise.scoring.attention import NotPackable

PACKED_ROWS = "packed_rows"  # the name under which transformers finds ``row_attention``


@dataclass(frozen=True, slots=True, eq=False)
class RowLayout:
    """How T tokens end to end are R rows of pieces, padded to L tokens for attention alone.

    Attributes:
        places: the token at each place of a row, 0 for padding, int64, shape (R, L).
        back: the place of each token in the R * L places, int64, shape (T,).
        visible: whether the query (third axis) sees the key (fourth), bool, shape (R, 1, L, L); padding sees itself.
    """

    places: torch.Tensor
    back: torch.Tensor
    visible: torch.Tensor

    @classmethod
    def of(cls, pieces: Sequence[Sequence[int]], blocked: Bool, device: torch.device) -> Self:
        """Lay out rows.

        Args:
            pieces: tokens of each piece of each row.
            blocked: tokens that no other sees, shape (T,), row by row.
            device: of the model.
        """
        sizes = np.array([sum(row) for row in pieces])
        longest = int(sizes.max())
        columns = np.arange(longest)
        filled = columns < sizes[:, None]
        places = np.where(filled, columns + (np.cumsum(sizes) - sizes)[:, None], 0)
        piece = np.full((len(pieces), longest), -1)  # which of the row's pieces; padding is of none
        for number, row in enumerate(pieces):
            piece[number, : sizes[number]] = np.repeat(np.arange(len(row)), row)
        hidden = blocked[places] & filled
        ours, theirs = torch.from_numpy(piece)[:, :, None], torch.from_numpy(piece)[:, None, :]
        steps = torch.arange(longest)
        seen = (ours == theirs) & (steps[:, None] >= steps) & (ours >= 0) & ~torch.from_numpy(hidden)[:, None, :]
        seen |= torch.eye(longest, dtype=torch.bool)
        return cls(
            torch.from_numpy(places).to(device),
            torch.from_numpy(np.flatnonzero(filled)).to(device),
            seen[:, None].to(device),
        )

    def within(self, window: int | None) -> torch.Tensor:
        """Return ``visible`` as far as ``window`` tokens back, itself included; None for all."""
        length = self.visible.shape[-1]
        if window is None or length <= window:
            return self.visible
        places = torch.arange(length, device=self.visible.device)
        return self.visible & (places[:, None] - places < window)


def row_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    layout: RowLayout | None = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    s_aux: torch.Tensor | None = None,
    dropout: float = 0.0,
    **others: Any,  # noqa: ANN401 - whatever a model hands to its attention
) -> tuple[torch.Tensor, None]:
    """Attend as a layout says, as transformers calls it.

    Args:
        module: the attention layer.
        query: shape (1, heads, T, head size).
        key: shape (1, key heads, T, head size); each serves ``heads / key heads`` query heads.
        value: as ``key``.
        attention_mask: none; the layout says it all.
        layout: of the T tokens.
        scaling: of the logits.
        sliding_window: how many tokens back one may look, itself included.
        s_aux: of each head a logit that takes its share of the weight and gives nothing (GPT-OSS), shape (heads,).
        dropout: share of the weights to leave out.
        others: anything that would change the result is refused.

    Returns:
        Shape (1, T, heads, head size), and no weights.

    Raises:
        NotPackable: the layer asks for something else (a mask, soft caps, a position bias).
    """
    wanted = [name for name in ("softcap", "position_bias", "head_mask") if others.get(name) is not None]
    if layout is None or attention_mask is not None or wanted:
        raise NotPackable(f"{type(module).__name__}: attention with {wanted or 'a mask of its own'}")
    shared = query.shape[1] // key.shape[1]
    q, k, v = (states[0].transpose(0, 1)[layout.places].transpose(1, 2) for states in (query, key, value))
    if shared > 1:
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
    seen = layout.within(sliding_window)
    if s_aux is None:
        out = scaled_dot_product_attention(q, k, v, attn_mask=seen, dropout_p=dropout, scale=scaling)
    else:
        k, v, bias = _with_sinks(k, v, seen, s_aux)
        out = scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=dropout, scale=scaling)
    return out.transpose(1, 2).flatten(0, 1)[layout.back][None], None


def _with_sinks(
    k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor, sinks: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Put a key of nothing in front, whose logit is the head's sink; returns keys, values and logits to add."""
    rows, heads, length, _ = k.shape
    nothing = torch.zeros_like(k[:, :, :1])
    bias = torch.zeros(seen.shape, dtype=k.dtype, device=k.device).masked_fill(~seen, -torch.inf)
    sink = sinks.to(k.dtype)[None, :, None, None].expand(rows, heads, length, 1)
    bias = torch.cat([sink, bias.expand(rows, heads, length, length)], dim=-1)
    return torch.cat([nothing, k], dim=2), torch.cat([nothing, v], dim=2), bias


AttentionInterface.register(PACKED_ROWS, row_attention)
