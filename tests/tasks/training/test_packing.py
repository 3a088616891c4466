from collections.abc import Sequence

import numpy as np
import pytest
import torch
from transformers import MambaConfig, MambaForCausalLM, PreTrainedModel

from tasks.training.examples import IGNORED, Example
from tasks.training.loss import weighted_nll
from tasks.training.packing import Batch, ModelUnfit, pack_attention
from tests.tasks.surprise.scoring.tiny import VOCABULARY, llama, qwen3

CPU = torch.device("cpu")


def example(seed: int, tokens: int, answer: int) -> Example:
    """Random tokens, the last ``answer`` of which are learnt with weights of their own."""
    generator = np.random.default_rng(seed)
    ids = generator.integers(0, VOCABULARY, tokens, dtype=np.int32)
    labels = np.where(np.arange(tokens) >= tokens - answer, ids, IGNORED).astype(np.int32)
    weights = np.where(labels == IGNORED, 0, generator.uniform(0.5, 2, tokens)).astype(np.float32)
    return Example(f"e{seed}", ids, labels, weights)


THREE = (example(1, 12, 5), example(2, 7, 6), example(3, 12, 1))


def one_by_one(model: PreTrainedModel, examples: Sequence[Example]) -> torch.Tensor:
    """The definition: each example alone, by the model's own attention, its whole logits."""
    total = torch.zeros(())
    for each in examples:
        logprobs = model(torch.tensor(each.ids[None].astype(np.int64))).logits[0].log_softmax(-1)
        for place in np.flatnonzero(each.labels != IGNORED):
            total = total - float(each.loss_weight[place]) * logprobs[place - 1, int(each.labels[place])]
    return total


@pytest.mark.parametrize("make", [qwen3, llama])
def test_packed_loss_and_gradients_are_those_of_each_example_alone(make: type[PreTrainedModel]) -> None:
    alone, packed = make(), make()
    pack_attention(packed)
    packed.activation_checkpointing_enable({"use_reentrant": False})
    packed.train()
    expected = one_by_one(alone, THREE)
    found = weighted_nll(packed, Batch.of(THREE, CPU))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    expected.backward()
    found.backward()
    gradients = {name: parameter.grad for name, parameter in packed.named_parameters()}
    torch.testing.assert_close(
        gradients, {name: parameter.grad for name, parameter in alone.named_parameters()}, rtol=1e-4, atol=1e-4
    )


def test_what_stands_in_one_example_does_not_change_the_loss_of_another() -> None:
    model = qwen3()
    pack_attention(model)
    nothing = Example("other", THREE[0].ids, np.full(12, IGNORED, dtype=np.int32), np.zeros(12, dtype=np.float32))
    other = Example("other", nothing.ids[::-1].copy(), nothing.labels, nothing.loss_weight)
    losses = [weighted_nll(model, Batch.of([before, THREE[1]], CPU)).item() for before in (nothing, other)]
    assert losses[0] == losses[1]


def test_the_first_token_of_an_example_cannot_be_learnt() -> None:
    first = Example("e9", *(THREE[1].ids, THREE[1].ids, np.ones(7, dtype=np.float32)))
    with pytest.raises(ValueError, match="e9: its first token"):
        Batch.of([THREE[0], first], CPU)


def test_a_model_that_mixes_texts_otherwise_than_by_attention_is_refused() -> None:
    mamba = MambaForCausalLM(MambaConfig(vocab_size=VOCABULARY, hidden_size=8, num_hidden_layers=1, state_size=2))
    with pytest.raises(ModelUnfit, match="MambaForCausalLM"):
        pack_attention(mamba)
