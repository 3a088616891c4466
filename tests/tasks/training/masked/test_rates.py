import pytest

from tasks.training.masked.rates import rate
from tests.tasks.training.masked.small import settings


def test_a_line_rises_over_the_warm_up_and_falls_to_nothing_after_the_last_step() -> None:
    scheduler = {"type": "WarmupDecayLR", "params": {"total_num_steps": 6, "warmup_num_steps": 2}}
    found = [rate(settings(scheduler=scheduler), step) for step in range(6)]
    assert found == pytest.approx([0.005, 0.01, 0.01, 0.0075, 0.005, 0.0025])


def test_half_a_cosine_is_at_half_the_rate_half_way() -> None:
    scheduler = {"type": "WarmupCosineLR", "params": {"total_num_steps": 8, "warmup_num_steps": 0}}
    found = [rate(settings(scheduler=scheduler), step) for step in (0, 4, 2)]
    assert found == pytest.approx([0.01, 0.005, 0.01 * (1 + 0.5**0.5) / 2])
