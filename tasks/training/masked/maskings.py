"""Which tokens a training run treats apart: Surprise Masking by a frozen policy, and what it is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tasks.surprise.baselines.fixed import Oracle, Random
from tasks.surprise.baselines.goldfish import GoldfishPaper, GoldfishReference
from tasks.surprise.baselines.loss import SelectiveTokenMasking
from tasks.surprise.baselines.methods import Material, Method, is_masked
from tasks.surprise.masking.selection import select
from tasks.surprise.policy import Policy, Unprompted
from tasks.surprise.project import touched
from tasks.surprise.rows import Bool
from tasks.training.masked.ground import Ground, runs

UNMASKED = "unmasked"


class MaskingUnfit(ValueError):
    """A masking is not there, or needs another one that is not. The message says what to do."""


@dataclass(frozen=True)
class Unmasked:
    """Nothing is selected: ordinary training."""

    name: str = UNMASKED


@dataclass(frozen=True)
class ByPolicy:
    """Surprise Masking: a frozen policy over the reference model's scores, carried over to the trained tokens."""

    name: str
    policy: Policy


@dataclass(frozen=True)
class ByMethod:
    """Any other fixed method.

    Attributes:
        name: how tables call it.
        method: a fixed one; a graded one needs ``AtThreshold`` around it.
        reads: the tokens that it sees: the reference model's with their scores, from which its mask is carried over
            through characters, or those of the model that is trained, without scores.
    """

    name: str
    method: Method
    reads: Literal["reference", "trained"]


@dataclass(frozen=True)
class RandomLike:
    """Chance: exactly as many supervised tokens as another masking of the same call selects (SM App. C.3).

    Attributes:
        name: how tables call it.
        like: name of the other one, which comes before this one.
        seed: of the draws; the mask is the same for all training seeds.
    """

    name: str
    like: str
    seed: int = 1


Masking = Unmasked | ByPolicy | ByMethod | RandomLike


def oracle() -> ByMethod:
    """Select the tokens that share a character with a labelled span."""
    return ByMethod("oracle", Oracle(), "trained")


def goldfish(k: int, mode: Literal["paper", "reference"] = "paper") -> ByMethod:
    """Goldfish loss: a fixed 1/k of the trained model's tokens, by SM App. C.3 or by the published code."""
    if mode == "paper":
        return ByMethod(f"goldfish:{k}", GoldfishPaper(k), "trained")
    return ByMethod(f"goldfish-reference:{k}", GoldfishReference(k), "trained")


def stm(perplexity: float = 2.5) -> ByMethod:
    """Selective Token Masking: tokens of a reference perplexity above a limit."""
    return ByMethod("stm", SelectiveTokenMasking(perplexity), "reference")


def masks(maskings: Sequence[Masking], ground: Ground) -> dict[str, Bool]:
    """Select tokens by each masking, in their order.

    Args:
        maskings: with different names.
        ground: N tokens of the model that is to be trained, with all that methods look at.

    Returns:
        By name a flag for each token, shape (N,); never outside supervision.

    Raises:
        MaskingUnfit: a name comes twice, or is to be matched before it is known.
        PolicyMismatch, ScoresUnfit: the scores are not those that a policy was calibrated for.
        ValueError: the documents lack what a method looks at.
    """
    found: dict[str, Bool] = {}
    for masking in maskings:
        if masking.name in found:
            raise MaskingUnfit(f"masking {masking.name}: given twice: names tell them apart")
        found[masking.name] = _mask(masking, ground, found) & ground.supervised
    return found


def _mask(masking: Masking, ground: Ground, before: dict[str, Bool]) -> Bool:
    match masking:
        case Unmasked():
            return np.zeros(ground.tokens.size, dtype=np.bool_)
        case ByPolicy(policy=policy):
            return touched(ground.tokens, ground.carried(select(ground.scored, policy).spans))
        case ByMethod(method=method, reads="trained"):
            return is_masked(method.levels(ground.material).on_tokens(ground.tokens))
        case ByMethod(method=method):
            return _through_characters(method, ground)
        case RandomLike(like=like, seed=seed, name=name):
            if like not in before:
                raise MaskingUnfit(f"{name}: no masking {like} before it, only {', '.join(before) or 'none'}")
            matched = Random.matched(seed, int(before[like].sum()), [ground.material])
            return is_masked(matched.levels(ground.material).on_tokens(ground.tokens))


def _through_characters(method: Method, ground: Ground) -> Bool:
    """Carry what a method selects in the reference model's text over to the trained tokens."""
    material = Material(ground.scored.documents, ground.scored.batch(Unprompted()))
    selected = is_masked(method.levels(material).on_characters())
    return touched(ground.tokens, ground.carried(runs(selected, material.lengths)))
