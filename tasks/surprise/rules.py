"""Threshold rules as configuration: how scores of windows become levels, and levels a selection."""

import sys
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tasks.surprise.rows import F64, Bool
from tasks.surprise.select import NEIGHBOURS, local_ranks, select_global, select_local
from tasks.surprise.windows import Windows


class GlobalRule(BaseModel):
    """One threshold tau for every window: selected iff its score is at least tau."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["global"] = "global"

    def select(self, scores: F64, windows: Windows, tau: float) -> Bool:
        """Select windows, shape (W,)."""
        return select_global(scores, tau)

    def levels(self, scores: F64, windows: Windows) -> F64:
        """Levels of windows, shape (W,): their scores."""
        return np.where(np.isnan(scores), -np.inf, scores)

    def reached(self, levels: F64, tau: float) -> Bool:
        """Tell which levels, of whatever unit, are masked at ``tau``."""
        return select_global(levels, tau)

    def threshold(self, level: float, next_below: float) -> float:
        """Give the tau that masks ``level`` and above; finite, so that policies and reports can hold it."""
        return min(level, sys.float_info.max)  # +inf: what a fixed part of a union masks, and that alone


class LocalRule(BaseModel):
    """A rank among neighbours: selected iff less than r_max percent of the neighbours score as high or higher."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["local"] = "local"
    neighbours: int = Field(default=NEIGHBOURS, ge=1, description="windows on each side that a window is ranked among")

    def select(self, scores: F64, windows: Windows, r_max: float) -> Bool:
        """Select windows, shape (W,)."""
        return select_local(local_ranks(scores, windows.row_offsets, self.neighbours), r_max)

    def levels(self, scores: F64, windows: Windows) -> F64:
        """Levels of windows, shape (W,): ranks with the sign turned; rank 100, tied with all or below, is never."""
        ranks = local_ranks(scores, windows.row_offsets, self.neighbours)
        return np.where(ranks < 100.0, -ranks, -np.inf)

    def reached(self, levels: F64, r_max: float) -> Bool:
        """Tell which levels, of whatever unit, are masked at ``r_max``, at most 100."""
        return select_local(-levels, r_max)

    def threshold(self, level: float, next_below: float) -> float:
        """Give the r_max that masks ``level`` and above but not ``next_below``: a rank at r_max is not selected."""
        return min(-next_below, 100.0)


Rule = Annotated[GlobalRule | LocalRule, Field(discriminator="kind")]
