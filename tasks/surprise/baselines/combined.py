"""Unions and intersections of methods (SM App. F.1)."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.surprise.baselines.methods import CharacterLevels, Levels, Material, Method, TokenLevels, is_masked
from tasks.surprise.rows import F64
from tasks.surprise.rules import Rule


@dataclass(frozen=True)
class Union:
    """Mask what any of the parts masks.

    At most one part may be graded. The union then is graded by it, and what a fixed part masks has level +inf: masked
    at every threshold.
    """

    parts: tuple[Method, ...]

    def __post_init__(self) -> None:
        _check(self.parts)

    @property
    def name(self) -> str:
        """The parts' names."""
        return " + ".join(part.name for part in self.parts)

    @property
    def rule(self) -> Rule | None:
        """The graded part's."""
        return _rule(self.parts)

    def levels(self, material: Material) -> Levels:
        """Take the highest level of each unit."""
        return _joined(self.parts, material, np.maximum)


@dataclass(frozen=True)
class Intersection:
    """Mask what all of the parts mask; at most one may be graded, and the intersection is graded by it.

    Parts that all give levels of the batch's tokens meet on tokens, others on characters: there a token that two
    parts touch at different characters is in neither.
    """

    parts: tuple[Method, ...]

    def __post_init__(self) -> None:
        _check(self.parts)

    @property
    def name(self) -> str:
        """The parts' names."""
        return " & ".join(part.name for part in self.parts)

    @property
    def rule(self) -> Rule | None:
        """The graded part's."""
        return _rule(self.parts)

    def levels(self, material: Material) -> Levels:
        """Take the lowest level of each unit."""
        return _joined(self.parts, material, np.minimum)


def _check(parts: Sequence[Method]) -> None:
    graded = [part.name for part in parts if part.rule is not None]
    if len(parts) < 2 or len(graded) > 1:
        raise ValueError(
            f"{len(parts)} methods, of which {graded} are graded: combine at least two, and set the thresholds of all"
            " but one with AtThreshold(...)"
        )


def _rule(parts: Sequence[Method]) -> Rule | None:
    return next((part.rule for part in parts if part.rule is not None), None)


def _joined(parts: Sequence[Method], material: Material, join: np.ufunc) -> Levels:
    given = [part.levels(material) for part in parts]
    tokens = None if material.batch is None else material.batch.tokens
    if tokens is not None and all(isinstance(levels, TokenLevels) and levels.tokens is tokens for levels in given):
        return TokenLevels(tokens, _reduced(parts, [levels.levels for levels in given], join), material.lengths)
    return CharacterLevels(_reduced(parts, [levels.on_characters() for levels in given], join), material.lengths)


def _reduced(parts: Sequence[Method], levels: Sequence[F64], join: np.ufunc) -> F64:
    if _rule(parts) is not None:
        levels = [
            np.where(is_masked(array), np.inf, -np.inf) if part.rule is None else array
            for part, array in zip(parts, levels, strict=True)
        ]
    return np.asarray(functools.reduce(join, levels))
