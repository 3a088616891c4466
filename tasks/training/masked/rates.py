"""The learning rate of each step, by a DeepSpeed configuration; we set it, so that every engine has the same."""

import math

from tasks.training.ds_config import DeepSpeedConfig


def rate(settings: DeepSpeedConfig, step: int) -> float:
    """Return the learning rate of a step, counted from 0.

    It rises in a straight line over the warm-up, from its first step on, and falls to zero after the last step: in a
    straight line (``WarmupDecayLR``) or as half a cosine (``WarmupCosineLR``).
    """
    peak = settings.learning_rate
    warmup, total = settings.scheduler.params.warmup_num_steps, settings.steps
    if step < warmup:
        return peak * (step + 1) / warmup
    left = (total - step) / (total - warmup)
    if settings.scheduler.type == "WarmupDecayLR":
        return peak * left
    return peak * (1 - math.cos(math.pi * left)) / 2
