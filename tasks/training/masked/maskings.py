"""Which tokens a training run treats apart: Surprise Masking by a frozen policy, and what it is compared with."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tasks.surprise.baselines.fixed import Oracle, Random, supervised_draws
from tasks.surprise.baselines.goldfish import GoldfishPaper, GoldfishReference
from tasks.surprise.baselines.loss import SelectiveTokenMasking
from tasks.surprise.baselines.methods import Material, Method, is_masked
from tasks.surprise.masking.selection import select
from tasks.surprise.policy import Policy, Unprompted
from tasks.surprise.project import touched
from tasks.surprise.rows import I64, Bool
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


def settled(maskings: Sequence[Masking], grounds: Iterable[Ground]) -> list[Masking]:
    """Match every masking by chance over a whole corpus; after that each part of it is masked by itself.

    Of each supervised token eight bytes are held, of the grounds one at a time.

    Args:
        maskings: with different names.
        grounds: all parts of the corpus; not looked at where nothing is to be matched.

    Raises:
        MaskingUnfit: a name comes twice, or is to be matched before it is known.
        PolicyMismatch, ScoresUnfit, ValueError: see ``masks``.
    """
    likes: dict[str, Masking] = {}  # by name, what decides how many tokens are selected
    for masking in maskings:
        if masking.name in likes:
            raise MaskingUnfit(f"masking {masking.name}: given twice: names tell them apart")
        if isinstance(masking, RandomLike) and masking.like not in likes:
            raise MaskingUnfit(
                f"{masking.name}: no masking {masking.like} before it, only {', '.join(likes) or 'none'}"
            )
        likes[masking.name] = likes[masking.like] if isinstance(masking, RandomLike) else masking
    chances = [each for each in maskings if isinstance(each, RandomLike)]
    if not chances:
        return list(maskings)
    budgets: Counter[str] = Counter()
    drawn: dict[int, list[I64]] = {each.seed: [] for each in chances}
    for ground in grounds:
        for like in {likes[each.name].name: likes[each.name] for each in chances}.values():
            budgets[like.name] += int(np.count_nonzero(_mask(like, ground)))
        for seed, parts in drawn.items():
            parts.append(supervised_draws(seed, ground.material))
    return [
        ByMethod(each.name, Random.cut(each.seed, budgets[likes[each.name].name], drawn[each.seed]), "trained")
        if isinstance(each, RandomLike)
        else each
        for each in maskings
    ]


def masks(maskings: Sequence[Masking], ground: Ground) -> dict[str, Bool]:
    """Select tokens by each masking, in their order; what is matched to another is matched on this ground alone.

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
    return {masking.name: _mask(masking, ground) for masking in settled(maskings, [ground])}


def _mask(masking: Masking, ground: Ground) -> Bool:
    return _anywhere(masking, ground) & ground.supervised


def _anywhere(masking: Masking, ground: Ground) -> Bool:
    match masking:
        case Unmasked():
            return np.zeros(ground.tokens.size, dtype=np.bool_)
        case ByPolicy(policy=policy):
            return touched(ground.tokens, ground.carried(select(ground.scored, policy).spans))
        case ByMethod(method=method, reads="trained"):
            return is_masked(method.levels(ground.material).on_tokens(ground.tokens))
        case ByMethod(method=method):
            return _through_characters(method, ground)
        case RandomLike(name=name):
            raise MaskingUnfit(f"{name}: not matched yet: `settled` does it over the whole corpus")


def _through_characters(method: Method, ground: Ground) -> Bool:
    """Carry what a method selects in the reference model's text over to the trained tokens."""
    material = Material(ground.scored.documents, ground.scored.batch(Unprompted()))
    selected = is_masked(method.levels(material).on_characters())
    return touched(ground.tokens, ground.carried(runs(selected, material.lengths)))
