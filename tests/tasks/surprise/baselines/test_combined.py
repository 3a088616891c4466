import numpy as np
import pytest

from tasks.surprise.baselines.combined import Intersection, Union
from tasks.surprise.baselines.fixed import Oracle
from tasks.surprise.baselines.joint import jointly_tuned
from tasks.surprise.baselines.methods import AtThreshold, CharacterLevels, Material, Method, TokenLevels, is_masked
from tasks.surprise.baselines.tuning import Ground, tuned
from tasks.surprise.calibrate import BestF1, Goal, NoPoint, RecallUnderCap, TargetRecall
from tasks.surprise.rules import GlobalRule, LocalRule, Rule
from tasks.surprise.spans import Spans
from tests.tasks.surprise.baselines.materials import Given, material_of

INF = np.inf
WORDS = [["aa", "bb", "cc", "dd"]]
MATERIAL = material_of(WORDS)


class Marked:
    """A fixed method with the spans it is given."""

    rule = None
    name = "marked"

    def __init__(self, *spans: tuple[int, int]) -> None:
        self.spans = spans

    def levels(self, material: Material) -> CharacterLevels:
        return CharacterLevels.of_spans(Spans.of([self.spans]), material)


def at(threshold: float, *levels: float) -> AtThreshold:
    return AtThreshold(Given(levels), threshold)


def characters(method: Method, material: Material = MATERIAL) -> list[int]:
    return np.flatnonzero(is_masked(method.levels(material).on_characters())).tolist()


def test_fixed_methods_unite_and_intersect_on_the_tokens_they_share() -> None:
    first, second = at(2, 2, 2, 1, 1), at(2, 1, 2, 2, 1)
    for method, expected in ((Union((first, second)), [0, 1, 2]), (Intersection((first, second)), [1])):
        levels = method.levels(MATERIAL)
        assert isinstance(levels, TokenLevels)
        assert np.flatnonzero(is_masked(levels.levels)).tolist() == expected
        assert method.rule is None


def test_token_masks_and_spans_meet_on_characters() -> None:
    tokens, spans = at(2, 2, 2, 1, 1), Marked((3, 5))
    assert characters(Union((tokens, spans))) == [0, 1, 2, 3, 4]
    assert characters(Intersection((tokens, spans))) == [3]


def test_a_graded_part_keeps_its_threshold_open() -> None:
    union, both = Union((Marked((0, 2)), Given([0, 1, 2, 3]))), Intersection((Marked((4, 8)), Given([0, 1, 2, 3])))
    assert union.levels(MATERIAL).on_characters().tolist() == [INF, INF, 1, 1, 2, 2, 3, 3]
    assert both.levels(MATERIAL).on_characters().tolist() == [-INF] * 4 + [2, 2, 3, 3]
    assert (union.rule, union.name, both.name) == (GlobalRule(), "marked + given", "marked & given")
    assert characters(AtThreshold(union, 2.5)) == [0, 1, 6, 7]
    assert characters(AtThreshold(both, 2.5)) == [6, 7]


def test_two_open_thresholds_or_one_method_are_refused() -> None:
    with pytest.raises(ValueError, match="set the thresholds of all"):
        Union((Given([1]), Given([2])))
    with pytest.raises(ValueError, match="combine at least two"):
        Intersection((Given([1]),))


# Two targets, the second of which only the other method finds: it has the lowest level.
LABELLED = material_of(WORDS, labels=[[(0, 2), (6, 8)]])


@pytest.mark.parametrize("unit", ["token", "character"])
def test_tuned_on_the_residual_a_method_need_not_find_what_another_has(unit: str) -> None:
    ground = Ground(LABELLED, "token" if unit == "token" else "character")
    method, other = Given([3, 1, 2, 0]), Marked((6, 8))
    alone, beside = (tuned(method, [ground], TargetRecall(recall=1.0), given) for given in (None, other))
    assert isinstance(alone, NoPoint)  # everything would have to be masked
    assert isinstance(beside, AtThreshold)
    assert beside.threshold == 3
    assert characters(Union((other, beside)), LABELLED) == [0, 1, 6, 7]


def test_tuning_asks_for_a_graded_method_and_a_residual_for_a_fixed_one() -> None:
    ground = Ground(LABELLED, "token")
    with pytest.raises(ValueError, match="oracle is fixed"):
        tuned(Oracle(), [ground], BestF1())
    with pytest.raises(ValueError, match="given leaves nothing before its threshold is set"):
        ground.residual(Given([0, 0, 0, 0]))


def test_tuning_counts_supervised_units_only() -> None:
    material = material_of(WORDS, labels=[[(0, 2), (6, 8)]], supervised=[[(0, 6)]])
    method = tuned(Given([3, 1, 2, 0]), [Ground(material, "token")], TargetRecall(recall=1.0))
    assert isinstance(method, AtThreshold)
    assert method.threshold == 3


def all_pairs(first: list[float], second: list[float], target: list[bool], kind: type) -> list[tuple[int, int]]:
    """Hits and collateral of every pair of thresholds, by trying them."""
    pairs = []
    for a in set(first):
        for b in set(second):
            masks = [(x >= a, y >= b) for x, y in zip(first, second, strict=True)]
            mask = [any(pair) if kind is Union else all(pair) for pair in masks]
            pairs.append((sum(m and t for m, t in zip(mask, target, strict=True)),
                          sum(m and not t for m, t in zip(mask, target, strict=True))))  # fmt: skip
    return pairs


@pytest.mark.parametrize("kind", [Union, Intersection])
@pytest.mark.parametrize("rule", [GlobalRule(), LocalRule()])
@pytest.mark.parametrize("seed", range(4))
def test_joint_thresholds_are_the_best_of_all_pairs(
    kind: type[Union] | type[Intersection], rule: Rule, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    target = rng.random(40) < 0.3
    material = material_of([["x"] * 40], labels=[[(int(i), int(i) + 1) for i in np.flatnonzero(target)]])
    # Ranks with the sign turned, as the local rule's levels are; any numbers are levels of the global rule.
    first, second = ((rng.integers(0, 6, 40) + 3 * target * rng.random(40) - 99).round(2).tolist() for _ in range(2))
    method = jointly_tuned(Given(first, rule), Given(second, rule), Ground(material, "token"), BestF1(), kind)
    assert not isinstance(method, NoPoint)
    counts = Ground(material, "token").units(method).piles().counts(GlobalRule(), 1.0)
    # A best pair lies at levels of targets, which the grid holds all of as long as there are fewer than 24.
    pairs = all_pairs(first, second, target.tolist(), kind)
    assert counts.f1 == pytest.approx(max(2 * hits / (hits + other + target.sum()) for hits, other in pairs))


# Levels of targets 5, 4 and 3, 1; of others 2, 0 and 4, 2.
FIRST, SECOND = Given([5, 4, 2, 0]), Given([3, 1, 4, 2])


def counted(goal: Goal) -> tuple[int, int] | None:
    ground = Ground(material_of(WORDS, labels=[[(0, 4)]]), "token")
    method = jointly_tuned(FIRST, SECOND, ground, goal)
    if isinstance(method, NoPoint):
        return None
    counts = ground.units(method).piles().counts(GlobalRule(), 1.0)
    return counts.true_positives, counts.false_positives


def test_joint_thresholds_meet_a_recall_with_the_least_collateral_and_a_cap_with_the_most_recall() -> None:
    assert counted(TargetRecall(recall=1.0)) == (2, 1)  # the second masks one other at its highest threshold already
    assert counted(TargetRecall(recall=0.5)) == (2, 1)
    assert counted(RecallUnderCap(collateral=0.5)) == (2, 1)
    assert counted(RecallUnderCap(collateral=0.49)) is None


def test_where_the_fixed_part_alone_is_best_the_threshold_is_finite_and_masks_that_part_alone() -> None:
    union = Union((Marked((0, 2)), Given([0, 5, 5, 1])))
    ground = Ground(material_of(WORDS, labels=[[(0, 2)]]), "token")
    method = tuned(union, [ground], BestF1())
    assert isinstance(method, AtThreshold)
    assert np.isfinite(method.threshold)
    assert characters(method) == [0, 1]
