"""Which triplet is for what, as ``privasis split`` has decided it; what training and export read."""

from typing import Literal, get_args

Split = Literal["train", "validation", "test", "vanilla", "hard", "left_out"]
"""``test`` is set aside for a test and not evaluated yet; ``left_out`` is for nothing."""

SPLITS: tuple[Split, ...] = get_args(Split)
TESTS: frozenset[Split] = frozenset({"test", "vanilla", "hard"})
