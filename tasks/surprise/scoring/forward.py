"""One batch through a causal language model: NLLs of the targets, packed where the model's attention allows it."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedModel

from tasks.surprise.scoring.attention import PACKED, NotPackable, Packing
from tasks.surprise.scoring.head import CPU_CHUNKS, GPU_CHUNKS, Chunks, Head
from tasks.surprise.scoring.linear import pack_linears
from tasks.surprise.scoring.reading import Reading

F32 = npt.NDArray[np.float32]

_PACKABLE_LAYERS = {"full_attention", "sliding_attention"}
_CHECK_LENGTHS = (9, 5, 5)  # texts of unequal and of equal length side by side
_BOUND_NATS = {torch.float32: 1e-3}  # on the check; rounding of the model's own logits decides it
_BOUND_HALF_NATS = 0.25


class UnsupportedModel(Exception):
    """The model's scores would not be those of its own forward pass. The message says what differs."""


class Forward:
    """A causal language model made ready to score. It takes the model over: other uses want a model of their own.

    Texts of a batch lie end to end without padding and each attends to itself alone. Models whose layers are not
    plain attention (state spaces, chunks, sinks, soft caps) read rows padded at the right instead, which causal
    layers never look at. Either way the result is compared with the model's own logits once, before it is trusted.

    Args:
        model: in evaluation mode, on its device, in the precision to score in.
        chunks: of the logits; None means what suits the device.

    Raises:
        UnsupportedModel: its output layer is not linear, or its scores differ from those of its own logits.
    """

    def __init__(self, model: PreTrainedModel, chunks: Chunks | None = None) -> None:
        self.device: torch.device = model.device
        expected = _own_nll(model, _check_readings(model.config.get_text_config().vocab_size))
        self._base = model.base_model
        self._head = _head(model, chunks or (GPU_CHUNKS if model.device.type == "cuda" else CPU_CHUNKS))
        self.packed = False
        if _takes_packing(model):
            pack_linears(self._base)  # others (state spaces) may use their layers' weights by themselves
            self.packed = self._agrees_packed(model, expected)
        if not self.packed and (difference := self._difference(model, expected)) > _bound(model):
            raise UnsupportedModel(
                f"{type(model).__name__}: its own logits give NLLs up to {difference:.3g} nats away from its hidden"
                " states through its output layer: this architecture needs support in tasks/surprise/scoring/forward.py"
            )

    @torch.inference_mode()
    def nll(self, batch: Sequence[Reading]) -> list[F32]:
        """Score the targets of each reading, in nats, shape (m,) each."""
        hidden = self._packed(batch) if self.packed else self._rows(batch)
        targets = np.concatenate([reading.targets for reading in batch])
        scores = self._head.nll(hidden, self._tensor(targets)).cpu().numpy()
        return np.split(scores, np.cumsum([reading.targets.size for reading in batch])[:-1])

    def _packed(self, batch: Sequence[Reading]) -> torch.Tensor:
        packing = Packing.of(tuple(reading.inputs.size for reading in batch), self.device)
        ids = self._tensor(np.concatenate([reading.inputs for reading in batch]))[None]
        states = self._states(ids, position_ids=packing.positions(), packing=packing)[0]
        stops = np.cumsum(packing.lengths)
        places = [np.arange(stop - reading.targets.size, stop) for reading, stop in zip(batch, stops, strict=True)]
        return states[self._tensor(np.concatenate(places))]

    def _rows(self, batch: Sequence[Reading]) -> torch.Tensor:
        longest = max(reading.inputs.size for reading in batch)
        ids = np.zeros((len(batch), longest), dtype=np.int64)  # any id will do as padding: nothing looks at it
        wanted = np.zeros((len(batch), longest), dtype=np.bool_)
        for row, reading in enumerate(batch):
            ids[row, : reading.inputs.size] = reading.inputs
            wanted[row, reading.inputs.size - reading.targets.size : reading.inputs.size] = True
        return self._states(self._tensor(ids))[torch.from_numpy(wanted).to(self.device)]

    def _states(self, ids: torch.Tensor, **layout: object) -> torch.Tensor:
        states: torch.Tensor = self._base(input_ids=ids, use_cache=False, **layout).last_hidden_state
        return states

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values.astype(np.int64)).to(self.device)

    def _agrees_packed(self, model: PreTrainedModel, expected: F32) -> bool:
        usual = model.config._attn_implementation
        model.set_attn_implementation(PACKED)
        self.packed = True
        try:
            agrees = self._difference(model, expected) <= _bound(model)
        except NotPackable:
            agrees = False
        if not agrees:
            model.set_attn_implementation(usual)
            self.packed = False
        return agrees

    def _difference(self, model: PreTrainedModel, expected: F32) -> float:
        found = np.concatenate(self.nll(_check_readings(model.config.get_text_config().vocab_size)))
        return float(np.abs(found - expected).max())


def _takes_packing(model: PreTrainedModel) -> bool:
    layers = getattr(model.config.get_text_config(), "layer_types", None)
    return bool(model._supports_attention_backend) and set(layers or ()) <= _PACKABLE_LAYERS


def _bound(model: PreTrainedModel) -> float:
    return _BOUND_NATS.get(model.dtype, _BOUND_HALF_NATS)


def _check_readings(vocabulary: int) -> list[Reading]:
    ids = np.random.default_rng(0).integers(0, vocabulary, size=sum(_CHECK_LENGTHS), dtype=np.int32)
    texts = np.split(ids, np.cumsum(_CHECK_LENGTHS)[:-1])
    return [Reading(text[:-1], text[1:], np.empty(text.size - 1, dtype=np.float32)) for text in texts]


@torch.inference_mode()
def _own_nll(model: PreTrainedModel, readings: Sequence[Reading]) -> F32:
    """Score one text at a time by the model's own logits: what everything else has to agree with."""
    found = []
    for reading in readings:
        ids = torch.from_numpy(reading.inputs.astype(np.int64))[None].to(model.device)
        logprobs = model(input_ids=ids, use_cache=False).logits[0].float().log_softmax(-1).cpu()
        found.append(-logprobs.numpy()[np.arange(reading.targets.size), reading.targets])
    return np.concatenate(found)


def _head(model: PreTrainedModel, chunks: Chunks) -> Head:
    layer = model.get_output_embeddings()
    if not isinstance(layer, torch.nn.Linear):
        raise UnsupportedModel(
            f"{type(model).__name__}: its output layer is {type(layer).__name__}, not torch.nn.Linear:"
            " load the model unquantized, as a causal language model"
        )
    # Weights that the input embedding uses too stay in memory anyway: a second copy would cost more than it speeds up.
    tied = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
    return Head(layer.weight.detach(), layer.bias, chunks, pack=not tied, adjust=_adjust(model))


def _adjust(model: PreTrainedModel) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """What models are known to do to their logits; whatever else they do, the check against them finds."""
    config = model.config.get_text_config()
    if cap := getattr(config, "final_logit_softcapping", None):  # Gemma
        return partial(_soft_cap, cap=float(cap))
    if scale := getattr(config, "logit_scale", None):  # Cohere
        return partial(torch.Tensor.mul_, other=float(scale))
    if divisor := getattr(config, "logits_scaling", None):  # Granite
        return partial(torch.Tensor.div_, other=float(divisor))
    return None


def _soft_cap(logits: torch.Tensor, cap: float) -> torch.Tensor:
    return logits.div_(cap).tanh_().mul_(cap)
