from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tasks.surprise.scoring.attention import Packing
from tasks.surprise.scoring.forward import Forward, UnsupportedModel
from tasks.surprise.scoring.head import Chunks, Head
from tasks.surprise.scoring.linear import PackedLinear
from tasks.surprise.scoring.reading import Reading
from tests.tasks.surprise.scoring.tiny import gpt2, llama, naive_nll, qwen3

LENGTHS = (3, 30, 3, 12, 3, 1, 12)


def readings() -> list[Reading]:
    rng = np.random.default_rng(1)
    ids = [rng.integers(0, 400, size=length + 1, dtype=np.int32) for length in LENGTHS]
    return [Reading(text[:-1], text[1:], np.empty(text.size - 1, dtype=np.float32)) for text in ids]


def assert_equals_the_loop(model: PreTrainedModel, forward: Forward) -> None:
    for reading, found in zip(readings(), forward.nll(readings()), strict=True):
        ids = [*reading.inputs.tolist(), int(reading.targets[-1])]
        np.testing.assert_allclose(found, naive_nll(model, ids, 1), atol=1e-4, rtol=0)


def gemma2() -> PreTrainedModel:
    torch.manual_seed(3)
    sizes: dict[str, Any] = {
        "vocab_size": 400,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "sliding_window": 6,
        "initializer_range": 0.5,
        "attn_implementation": "eager",
    }
    return Gemma2ForCausalLM(Gemma2Config(**sizes, final_logit_softcapping=2.0, attn_logit_softcapping=1.0)).eval()


def mamba() -> PreTrainedModel:
    torch.manual_seed(3)
    return MambaForCausalLM(MambaConfig(vocab_size=400, hidden_size=32, num_hidden_layers=2, state_size=4)).eval()


def cohere() -> PreTrainedModel:
    torch.manual_seed(3)
    config = CohereConfig(
        vocab_size=400,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        logit_scale=3.0,
    )
    return CohereForCausalLM(config).eval()


@pytest.mark.parametrize("make", [qwen3, llama, gpt2, cohere])
def test_plain_attention_is_packed(make: Any) -> None:
    forward = Forward(make())
    assert forward.packed
    assert_equals_the_loop(make(), forward)


@pytest.mark.parametrize("make", [gemma2, mamba])
def test_what_cannot_be_packed_reads_padded_rows(make: Any) -> None:
    forward = Forward(make())
    assert not forward.packed
    assert_equals_the_loop(make(), forward)


class Doubled(Qwen3ForCausalLM):
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        out = super().forward(*args, **kwargs)
        out.logits = 2 * out.logits
        return out


def test_a_model_that_treats_its_logits_in_an_unknown_way_is_refused() -> None:
    config = qwen3().config
    assert isinstance(config, Qwen3Config)
    with pytest.raises(UnsupportedModel, match=r"Doubled: its own logits give NLLs up to \d"):
        Forward(Doubled(config).eval())


def test_a_head_that_is_not_linear_is_refused() -> None:
    model = qwen3()
    model.set_output_embeddings(torch.nn.Sequential(model.get_output_embeddings()))
    with pytest.raises(UnsupportedModel, match=r"its output layer is Sequential"):
        Forward(model)


@pytest.mark.parametrize("bias", [False, True])
def test_the_whole_logits_never_exist(bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest product that is ever made is one chunk of tokens by one chunk of the vocabulary."""
    rng = torch.Generator().manual_seed(5)
    weight = torch.randn(1000, 16, generator=rng)
    offset = torch.randn(1000, generator=rng) if bias else None
    hidden = torch.randn(70, 16, generator=rng)
    targets = torch.randint(0, 1000, (70,), generator=rng)
    seen: list[tuple[int, ...]] = []
    forward = PackedLinear.forward

    def watched(self: PackedLinear, inputs: torch.Tensor) -> torch.Tensor:
        outputs = forward(self, inputs)
        seen.append(tuple(outputs.shape))
        return outputs

    monkeypatch.setattr(PackedLinear, "forward", watched)
    found = Head(weight, offset, Chunks(tokens=32, vocabulary=300)).nll(hidden, targets)
    assert seen == [(tokens, words) for tokens in (32, 32, 6) for words in (300, 300, 300, 100)]
    logits = hidden @ weight.T + (0 if offset is None else offset)
    torch.testing.assert_close(found, torch.nn.functional.cross_entropy(logits, targets, reduction="none"))


def test_huge_logits_neither_overflow_nor_vanish() -> None:
    weight = torch.tensor([[300.0], [299.0], [-300.0]])
    found = Head(weight, None, Chunks(tokens=1, vocabulary=1)).nll(torch.ones(3, 1), torch.tensor([0, 1, 2]))
    rest = np.log1p(np.exp(-1.0))
    np.testing.assert_allclose(found.numpy(), [rest, 1 + rest, 600 + rest], atol=1e-4, rtol=0)


def test_positions_begin_anew_in_each_text() -> None:
    packing = Packing.of((2, 3, 1), torch.device("cpu"))
    assert packing.positions().tolist() == [[0, 1, 0, 1, 2, 0]]
    assert packing.offsets.tolist() == [0, 2, 5, 6]
