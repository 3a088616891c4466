"""Thresholds of graded methods: tuned on all validation units, or on what another method leaves (SM App. F.1)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tasks.surprise.baselines.methods import AtThreshold, Material, Method, is_masked
from tasks.surprise.calibrate import Goal, NoPoint, calibrate
from tasks.surprise.curve import trade_off
from tasks.surprise.piles import Piles
from tasks.surprise.procedure import Batch
from tasks.surprise.project import touched
from tasks.surprise.rows import F64, Bool
from tasks.surprise.spans import flags
from tasks.surprise.units import Units


@dataclass(frozen=True, eq=False)
class Ground:
    """Labelled material, in units of one kind on which methods are tuned and compared."""

    material: Material
    unit: Literal["token", "character"]

    @property
    def batch(self) -> Batch:
        """The scored tokens; ValueError where there are none."""
        return self.material.scored("counting tokens")

    @property
    def target(self) -> Bool:
        """Units that are targets, shape (U,)."""
        if self.unit == "token":
            return touched(self.batch.tokens, self.material.targets)
        return flags(self.material.targets, self.material.lengths)

    @property
    def supervised(self) -> Bool:
        """Units that count, shape (U,)."""
        supervised = self.batch.supervised if self.unit == "token" else self.material.supervised
        if self.material.counted is None:
            return supervised
        sizes = np.diff(self.batch.tokens.row_offsets) if self.unit == "token" else self.material.lengths
        return supervised & np.repeat(self.material.counted, sizes)

    def levels(self, method: Method) -> F64:
        """Levels of all units, shape (U,)."""
        given = method.levels(self.material)
        return given.on_tokens(self.batch.tokens) if self.unit == "token" else given.on_characters()

    def units(self, method: Method) -> Units:
        """Give the supervised units with a method's levels."""
        return Units(self.levels(method), self.target).only(self.supervised)

    def residual(self, other: Method) -> Bool:
        """Mark the supervised units that a fixed method leaves unmasked, shape (U,).

        Raises:
            ValueError: the method is graded.
        """
        if other.rule is not None:
            raise ValueError(f"{other.name} leaves nothing before its threshold is set: pass AtThreshold(...)")
        return self.supervised & ~is_masked(self.levels(other))


def tuned(
    method: Method, validation: Iterable[Ground], goal: Goal, beside: Method | None = None
) -> AtThreshold | NoPoint:
    """Calibrate a graded method.

    Tuned on the residual of a fixed method it adds to the other's mask: ``Union((beside, tuned(...)))``. The goal then
    is one of the residual: the targets that the other masks are neither hits nor misses.

    Args:
        method: graded.
        validation: labelled, in pieces with whole groups.
        goal: what to reach.
        beside: a fixed method; units that it masks do not count. None for all supervised units.

    Raises:
        ValueError: the method is fixed, or the other one is not.
    """
    if method.rule is None:
        raise ValueError(f"{method.name} is fixed: it has no threshold to tune")
    parts = []
    for ground in validation:
        counted = ground.supervised if beside is None else ground.residual(beside)
        parts.append(Units(ground.levels(method), ground.target).only(counted).piles())
    point = calibrate(trade_off(Piles.joined(parts)), method.rule, goal)
    return point if isinstance(point, NoPoint) else AtThreshold(method, point.threshold)
