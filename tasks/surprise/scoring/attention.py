"""Attention of several texts packed end to end, each blind to the others."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

PACKED = "packed_texts"  # the name under which transformers finds ``packed_attention``


class NotPackable(Exception):
    """The model's attention does more than packed attention can do; it has to read padded rows."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How a row of T tokens is divided into texts.

    Attributes:
        lengths: tokens of each text, in order; equal lengths side by side are computed together.
        offsets: where each begins, with T at the end, int32 on the model's device, shape (texts + 1,).
    """

    lengths: tuple[int, ...]
    offsets: torch.Tensor

    @classmethod
    def of(cls, lengths: tuple[int, ...], device: torch.device) -> Self:
        """Lay out texts of these lengths."""
        offsets = torch.tensor((0, *lengths), dtype=torch.int32).cumsum(0, dtype=torch.int32)
        return cls(lengths, offsets.to(device))

    def positions(self) -> torch.Tensor:
        """Place of each token in its text, shape (1, T)."""
        ranges = [torch.arange(length) for length in self.lengths]
        return torch.cat(ranges)[None].to(self.offsets.device)


def packed_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    packing: Packing | None = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **others: Any,  # noqa: ANN401 - whatever a model hands to its attention
) -> tuple[torch.Tensor, None]:
    """Let each token attend to the tokens up to itself in its own text, as transformers calls it.

    Args:
        module: the attention layer.
        query: shape (1, heads, T, head size).
        key: shape (1, key heads, T, head size); each serves ``heads / key heads`` query heads.
        value: as ``key``.
        attention_mask: none, packed texts need none.
        packing: where the texts begin.
        scaling: of the logits.
        sliding_window: how many tokens back one may look, itself included.
        others: anything that would change the result is refused.

    Returns:
        Shape (1, T, heads, head size), and no weights.

    Raises:
        NotPackable: the layer asks for something else (a mask, soft caps, sinks, a position bias).
    """
    wanted = [name for name in ("softcap", "s_aux", "position_bias", "head_mask") if others.get(name) is not None]
    if packing is None or attention_mask is not None or wanted:
        raise NotPackable(f"{type(module).__name__}: attention with {wanted or 'a mask of its own'}")
    if query.is_cuda and query.dtype in (torch.bfloat16, torch.float16):
        return _varlen(query, key, value, packing, scaling, sliding_window), None
    out = query.new_empty(1, query.shape[2], query.shape[1], value.shape[-1])
    begin = 0
    for length, group in groupby(packing.lengths):
        count = len(list(group))
        stop = begin + count * length
        q, k, v = (_texts(states[0, :, begin:stop], count) for states in (query, key, value))
        attended = _causal(q, k, v, scaling, sliding_window)  # (count, heads, length, size)
        out[0, begin:stop] = attended.transpose(1, 2).reshape(stop - begin, query.shape[1], -1)
        begin = stop
    return out, None


def _texts(states: torch.Tensor, count: int) -> torch.Tensor:
    """Divide texts of one length, shape (heads, count * length, size) to (count, heads, length, size)."""
    heads, tokens, size = states.shape
    return states.reshape(heads, count, tokens // count, size).transpose(0, 1)


def _causal(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scaling: float | None, sliding_window: int | None
) -> torch.Tensor:
    shared = q.shape[1] // k.shape[1]
    if shared > 1:
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
    length = q.shape[2]
    if sliding_window is None or length <= sliding_window:
        return scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling)
    places = torch.arange(length, device=q.device)
    back = places[:, None] - places
    mask = (back >= 0) & (back < sliding_window)
    return scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scaling)


def _varlen(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    packing: Packing,
    scaling: float | None,
    sliding_window: int | None,
) -> torch.Tensor:
    """The same in one call, by the flash kernel that comes with torch (CUDA, half precision)."""
    from torch.nn.attention.varlen import varlen_attn  # here: it is for GPUs alone

    longest = max(packing.lengths)
    q, k, v = (states[0].transpose(0, 1).contiguous() for states in (query, key, value))
    back = -1 if sliding_window is None else sliding_window - 1
    out = varlen_attn(
        q,
        k,
        v,
        packing.offsets,
        packing.offsets,
        longest,
        longest,
        scale=scaling,
        window_size=(back, 0),
        enable_gqa=q.shape[1] != k.shape[1],
    )
    assert isinstance(out, torch.Tensor)  # a pair only when statistics are asked for
    return out[None]


AttentionInterface.register(PACKED, packed_attention)
