"""Draws many continuations of many prompts from a causal language model, each from random numbers of its own.

Prompts are read once; their keys and values are then shared out to the samples. What sample ``b`` of a prompt becomes
depends on the seed, the prompt's id and ``b``, not on what is drawn beside it: batches of other sizes, or a run that
was killed and resumed, give the same but for the rounding of the model's own arithmetic.

Letters: P prompts of a batch, R rows (samples) of a batch, V words of the vocabulary, T tokens.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from pydantic import BaseModel, ConfigDict, Field

F64 = npt.NDArray[np.float64]
Continuation = tuple[int, ...]

ROWS = 512  # drawn at once
_PICKED = 1 << 22  # probabilities that are summed up at once, in float64: 32 MiB


class Sampling(BaseModel):
    """How continuations are drawn."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    samples: int = Field(ge=1, description="continuations of each prompt")
    temperature: float = Field(default=1.0, ge=0, description="0 takes the likeliest token")
    top_p: float = Field(default=1.0, gt=0, le=1, description="draw from the likeliest tokens with this share")
    seed: int = Field(default=0, ge=0)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is to be continued.

    Attributes:
        id: different for each prompt of a run; the random numbers depend on it.
        ids: tokens, at least one.
        most_tokens: a continuation ends there, if not before with an end token.
    """

    id: str
    ids: tuple[int, ...]
    most_tokens: int


class Sampler(Protocol):
    """Something that continues prompts: a model in this process, or a server."""

    @property
    def model(self) -> str:
        """The model's name, as stored with each row."""
        ...

    def draw(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[Continuation]]:
        """Return ``sampling.samples`` continuations of each prompt, without the token that ended them."""
        ...


@dataclass(frozen=True, eq=False)
class LocalSampler:
    """A model in this process.

    Attributes:
        lm: a causal language model of transformers, in evaluation mode.
        model: its name.
        ends: tokens that end a continuation.
        rows: continuations drawn at once; a matter of memory.
    """

    lm: Any
    model: str
    ends: Collection[int]
    rows: int = ROWS

    def draw(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[Continuation]]:
        """Return ``sampling.samples`` continuations of each prompt, without the token that ended them.

        Raises:
            ValueError: a prompt has no tokens.
        """
        return draw(self.lm, prompts, sampling, ends=self.ends, rows=self.rows)


def draw(
    lm: Any,  # noqa: ANN401
    prompts: Sequence[Prompt],
    sampling: Sampling,
    *,
    ends: Collection[int],
    rows: int = ROWS,
) -> list[list[Continuation]]:
    """Return the samples of each prompt, in order; see ``LocalSampler``.

    Raises:
        ValueError: a prompt has no tokens.
    """
    for prompt in prompts:
        if not prompt.ids:
            raise ValueError(f"{prompt.id}: an empty prompt: put the model's start token there")
    # Prompts of like length together: little is padded, and rows of a batch end about together.
    order = sorted(range(len(prompts)), key=lambda place: (len(prompts[place].ids), prompts[place].most_tokens))
    wanted = [(place, sample) for place in order for sample in range(sampling.samples)]
    found: dict[tuple[int, int], Continuation] = {}
    for start in range(0, len(wanted), rows):
        batch = wanted[start : start + rows]
        found.update(zip(batch, _draw_batch(lm, prompts, batch, sampling, frozenset(ends)), strict=True))
    return [[found[place, sample] for sample in range(sampling.samples)] for place in range(len(prompts))]


@torch.inference_mode()
def _draw_batch(
    lm: Any,  # noqa: ANN401
    prompts: Sequence[Prompt],
    batch: Sequence[tuple[int, int]],
    sampling: Sampling,
    ends: frozenset[int],
) -> list[Continuation]:
    """Continue each (prompt, sample) of the batch."""
    places = list(dict.fromkeys(place for place, _ in batch))
    device = next(lm.parameters()).device
    row_of = {place: row for row, place in enumerate(places)}
    prompt_of_R = torch.tensor([row_of[place] for place, _ in batch], device=device)
    most = [prompts[place].most_tokens for place, _ in batch]
    uniform_RT = torch.from_numpy(
        np.stack([uniforms(sampling.seed, prompts[place].id, sample, max(most)) for place, sample in batch])
    ).to(device)

    ids_PT, mask_PT = _padded([prompts[place].ids for place in places], device)
    position_PT = (mask_PT.cumsum(1) - 1).clamp(min=0)
    output = lm(input_ids=ids_PT, attention_mask=mask_PT, position_ids=position_PT, use_cache=True, logits_to_keep=1)
    cache, mask_RT = output.cache, mask_PT[prompt_of_R]
    cache.batch_select_indices(prompt_of_R)
    logits_RV = output.logits[:, -1][prompt_of_R]
    position_R = mask_PT.sum(1)[prompt_of_R]

    written: list[list[int]] = [[] for _ in batch]
    rows = list(range(len(batch)))  # which of the batch each row of the tensors is
    for step in range(max(most)):
        token_R = pick(logits_RV, uniform_RT[:, step], sampling)
        going = []
        for place, (row, token) in enumerate(zip(rows, token_R.tolist(), strict=True)):
            if token not in ends:
                written[row].append(token)
                if step + 1 < most[row]:
                    going.append(place)
        if not going:
            break
        kept_R = torch.tensor(going, device=device)
        if len(going) < len(rows):
            cache.batch_select_indices(kept_R)
            rows = [rows[place] for place in going]
            mask_RT, position_R, uniform_RT = mask_RT[kept_R], position_R[kept_R], uniform_RT[kept_R]
        mask_RT = torch.cat([mask_RT, mask_RT.new_ones(len(rows), 1)], dim=1)
        output = lm(
            input_ids=token_R[kept_R, None],
            attention_mask=mask_RT,
            position_ids=position_R[:, None],
            cache=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        cache, logits_RV, position_R = output.cache, output.logits[:, -1], position_R + 1
    return [tuple(each) for each in written]


def uniforms(seed: int, prompt: str, sample: int, steps: int) -> F64:
    """Return the random numbers in [0, 1) of one sample of one prompt, shape (steps,); more steps go on from fewer."""
    key = int.from_bytes(hashlib.sha256(f"{seed}\n{prompt}".encode()).digest()[:16], "big")
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, sample])).random(steps)


def pick(logits_RV: torch.Tensor, uniform_R: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return the token of each row where its cumulative probability first passes the random number, shape (R,)."""
    if sampling.temperature == 0:
        return logits_RV.argmax(dim=1)
    at_once = max(1, _PICKED // logits_RV.shape[1])
    parts = zip(logits_RV.split(at_once), uniform_R.split(at_once), strict=True)
    return torch.cat([_pick(logits, uniform, sampling) for logits, uniform in parts])


def _pick(logits_RV: torch.Tensor, uniform_R: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    share_RV = torch.softmax(logits_RV.float() / sampling.temperature, dim=1)
    if sampling.top_p < 1:
        share_RV = _nucleus(share_RV, sampling.top_p)
    passed_RV = share_RV.cumsum(dim=1, dtype=torch.float64)
    level_R1 = uniform_R[:, None] * passed_RV[:, -1:]
    found_R = torch.searchsorted(passed_RV, level_R1, right=True)[:, 0]
    return found_R.clamp(max=logits_RV.shape[1] - 1)


def _nucleus(share_RV: torch.Tensor, top_p: float) -> torch.Tensor:
    """Set all but the likeliest tokens to zero: as few as have ``top_p`` together, one at least."""
    sorted_RV, order_RV = share_RV.sort(dim=1, descending=True, stable=True)
    before_RV = sorted_RV.cumsum(dim=1) - sorted_RV
    kept_RV = sorted_RV.masked_fill(before_RV >= top_p, 0.0)
    return torch.zeros_like(share_RV).scatter(1, order_RV, kept_RV)


def _padded(ids: Sequence[Sequence[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids and where they are, shape (P, T), padded on the left."""
    longest = max(map(len, ids))
    ids_PT = torch.zeros((len(ids), longest), dtype=torch.long)
    mask_PT = torch.zeros((len(ids), longest), dtype=torch.long)
    for row, each in enumerate(ids):
        ids_PT[row, longest - len(each) :] = torch.tensor(each)
        mask_PT[row, longest - len(each) :] = 1
    return ids_PT.to(device), mask_PT.to(device)
