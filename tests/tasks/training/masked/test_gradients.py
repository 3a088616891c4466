from collections.abc import Sequence
from typing import Any

import pytest
import torch

from tasks.training.job import LoraConfig
from tasks.training.masked.batch import RowBatch
from tasks.training.masked.gradients import clipped
from tasks.training.masked.learner import Parts, TorchLearner
from tasks.training.masked.models import with_adapters
from tasks.training.masked.rows import Row
from tests.tasks.surprise.scoring.tiny import gpt2, qwen3
from tests.tasks.training.masked.small import CPU, packed, reference_gradients, row, settings

MICRO_BATCHES = [[row(1, (12, 5)), row(2, (9,))], [row(3, (7, 6, 4)), row(4, (17,))]]
SUPERVISED = sum(int((each.labels >= 0).sum()) for rows in MICRO_BATCHES for each in rows)


def gradients_of(learner: TorchLearner, micro_batches: Sequence[Sequence[Row]], parts: Parts) -> list[torch.Tensor]:
    for rows in micro_batches:
        batch = RowBatch.of(rows, CPU)
        nll = learner.nll(batch, parts)
        selected = batch.selected.to(nll.dtype)
        learner.add((nll * (1 - selected)).sum() / SUPERVISED, (nll * selected).sum() / SUPERVISED, parts)
    return [each.grad for each in learner.parameters if each.grad is not None]


def assert_equal(found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> None:
    """To 1e-6 of the whole gradient: Qwen3's norms compute in float32 whatever the weights are."""
    bound = 1e-6 * float(torch.stack([each.norm() for each in expected]).norm())
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=bound)


@pytest.mark.parametrize("make", [qwen3, gpt2])
@pytest.mark.parametrize("parts", ["one", "scale", "clip"])
def test_gradients_of_packed_micro_batches_are_those_of_the_formula_in_float64(make: Any, parts: Parts) -> None:
    learner = TorchLearner(packed(make().double()).eval(), settings(micro=2, accumulation=2))
    found = gradients_of(learner, MICRO_BATCHES, parts)
    expected = reference_gradients(make(), MICRO_BATCHES, parts)
    assert_equal(found, expected)


@pytest.mark.parametrize("parts", ["scale", "clip"])
def test_the_formula_holds_for_adapters(parts: Parts) -> None:
    def adapted() -> Any:
        model = with_adapters(qwen3().double(), LoraConfig(rank=4, alpha=8))
        torch.manual_seed(3)
        for name, parameter in model.named_parameters():
            if "lora_B" in name:  # they begin with zeros, and then those of lora_A have no gradient
                torch.nn.init.normal_(parameter, std=0.1)
        return model.double()

    learner = TorchLearner(adapted(), settings(micro=2, accumulation=2))
    packed(learner.model.get_base_model())
    found = gradients_of(learner, MICRO_BATCHES, parts)
    expected = reference_gradients(adapted(), MICRO_BATCHES, parts)
    assert len(found) == len(expected) > 0
    assert_equal(found, expected)


def test_clipping_takes_the_norm_of_a_micro_batch_and_not_of_the_step() -> None:
    together = [[each for rows in MICRO_BATCHES for each in rows]]
    apart = reference_gradients(qwen3(), MICRO_BATCHES, "clip")
    assert not all(
        torch.allclose(a, b, rtol=1e-4)
        for a, b in zip(apart, reference_gradients(qwen3(), together, "clip"), strict=True)
    )


def test_a_small_selected_part_is_not_clipped_and_a_large_one_to_a_quarter() -> None:
    weight = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    small, factor = clipped(
        (weight * torch.tensor([3.0, 4.0])).sum(), (weight * torch.tensor([0.0, 1.0])).sum(), [weight]
    )
    assert factor == 1.0
    torch.testing.assert_close(small[0], torch.tensor([3.0, 5.0], dtype=torch.float64))
    # |g_B| = 5, |g_S| = 10: c = 0.25 * 5 / 10
    large, factor = clipped(
        (weight * torch.tensor([3.0, 4.0])).sum(), (weight * torch.tensor([10.0, 0.0])).sum(), [weight]
    )
    assert factor == 0.125
    torch.testing.assert_close(large[0], torch.tensor([4.25, 4.0], dtype=torch.float64))
    assert weight.grad is None


def test_no_selected_token_and_nothing_else_than_selected_tokens_have_gradients_all_the_same() -> None:
    weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    loss, nothing = weight.sum(), (weight * 0).sum()
    alone, factor = clipped(loss, nothing, [weight])
    assert (alone[0].tolist(), factor) == ([1.0, 1.0], 1.0)
    gone, factor = clipped((weight * 0).sum(), weight.sum(), [weight])
    assert (gone[0].tolist(), factor) == ([0.0, 0.0], 0.0)
