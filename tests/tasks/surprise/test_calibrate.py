import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.calibrate import BestF1, Goal, NoPoint, Point, RecallUnderCap, TargetRecall, calibrate, transfer
from tasks.surprise.curve import histograms, trade_off
from tasks.surprise.procedure import FixedWindows, Procedure, Propagation
from tasks.surprise.rules import GlobalRule, LocalRule
from tasks.surprise.segments import lines, tile
from tasks.surprise.spans import Spans
from tasks.surprise.units import Units, character_units, piece_units, token_units
from tasks.surprise.windows import tiled_windows
from tests.tasks.surprise import naive
from tests.tasks.surprise.batches import NLL, batch_of, repetitive, tokens_of

LABELLED = st.lists(
    st.tuples(st.sampled_from([-math.inf, 0.0, 0.5, 1.0, 2.0, 3.5]), st.booleans()), min_size=2, max_size=25
).filter(lambda pairs: len({target for _, target in pairs}) == 2)

GOALS: list[tuple[Goal, Callable[[float, float], float | None]]] = [
    *((TargetRecall(recall=r), lambda tpr, fpr, r=r: 0.0 if tpr >= r else None) for r in (0.5, 0.7, 0.9, 0.95, 1.0)),
    *((RecallUnderCap(collateral=c), lambda tpr, fpr, c=c: tpr if fpr <= c and tpr else None) for c in (0.0, 0.2, 0.5)),
]


def units(pairs: list[tuple[float, bool]]) -> Units:
    return Units(np.array([level for level, _ in pairs]), np.array([target for _, target in pairs], dtype=np.bool_))


@given(pairs=LABELLED)
@settings(max_examples=200, deadline=None)
def test_auroc_is_the_share_of_pairs_in_order_with_ties_one_half(pairs: list[tuple[float, bool]]) -> None:
    expected = naive.auroc([level for level, _ in pairs], [target for _, target in pairs])
    assert trade_off(units(pairs).piles()).auroc == pytest.approx(expected, rel=1e-14)


@given(pairs=LABELLED, goal=st.sampled_from(GOALS))
@settings(max_examples=300, deadline=None)
def test_the_threshold_is_the_one_that_trying_them_all_would_choose(
    pairs: list[tuple[float, bool]], goal: tuple[Goal, Callable[[float, float], float | None]]
) -> None:
    levels, target = [level for level, _ in pairs], [positive for _, positive in pairs]
    finite = sorted({level for level in levels if level > -math.inf})
    expected = naive.best(finite, lambda t: [level >= t for level in levels], target, goal[1])
    found = calibrate(trade_off(units(pairs).piles()), GlobalRule(), goal[0])
    if isinstance(found, Point):
        assert expected is not None
        assert found.threshold == expected[1]
        assert found.counts == units(pairs).piles().counts(GlobalRule(), found.threshold)
    else:  # nothing meets the goal, or what does is no better than chance
        chosen = None if expected is None else units(pairs).piles().counts(GlobalRule(), expected[1])
        assert chosen is None or (chosen.tpr or 0.0) <= (chosen.fpr or 0.0)


@given(pairs=LABELLED)
@settings(max_examples=200, deadline=None)
def test_the_best_f1_is_the_best_of_all_thresholds_or_that_of_masking_everything(
    pairs: list[tuple[float, bool]],
) -> None:
    levels, target = [level for level, _ in pairs], [positive for _, positive in pairs]
    scores = {}
    for threshold in sorted({level for level in levels if level > -math.inf}, reverse=True):
        hits = sum(level >= threshold and positive for level, positive in pairs)
        scores[threshold] = 2 * hits / (sum(level >= threshold for level in levels) + sum(target))
    everything = 2 * sum(target) / (len(target) + sum(target))
    found = calibrate(trade_off(units(pairs).piles()), GlobalRule(), BestF1())
    best = max(scores.values(), default=0.0)
    if isinstance(found, Point):
        assert found.threshold == max(scores, key=lambda threshold: (scores[threshold], threshold))
        assert found.counts.f1 == best > everything
    else:
        assert best <= everything or "no better than chance" in found.reason


@given(drawn=repetitive(longest=20), data=st.data(), local=st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_calibrated_threshold_achieves_what_it_says_through_the_complete_procedure(
    drawn: tuple[list[list[int]], list[list[bool]], list[int]], data: st.DataObject, local: bool
) -> None:
    ids, supervised, groups = drawn
    batch = batch_of([[data.draw(NLL) for _ in row] for row in ids], ids, supervised, groups)
    procedure = Procedure(
        windows=FixedWindows(width=2),
        rule=LocalRule(neighbours=4) if local else GlobalRule(),
        consensus=2,
        propagation=Propagation(width=2),
    )
    targets = Spans.of([[(i, i + 2) for i in range(len(row) - 1) if row[i] == 0] for row in ids])
    labelled = token_units(batch.tokens, procedure.levels(batch), targets)
    for goal in (TargetRecall(recall=0.5), TargetRecall(recall=0.9), BestF1(), RecallUnderCap(collateral=0.3)):
        found = calibrate(trade_off(labelled.piles()), procedure.rule, goal)
        if isinstance(found, Point):
            masked = procedure.mask(batch, found.threshold)
            assert int(np.count_nonzero(masked & labelled.target)) == found.counts.true_positives
            assert int(np.count_nonzero(masked & ~labelled.target)) == found.counts.false_positives


def test_sm50_to_sm95_are_the_least_masking_that_reaches_the_recall() -> None:
    pairs = [(10.0 - i, i % 2 == 0) for i in range(40)]  # targets and others in turn, targets first
    curve = trade_off(units(pairs).piles())
    for recall, hits in ((0.5, 10), (0.7, 14), (0.9, 18), (0.95, 19)):
        found = calibrate(curve, GlobalRule(), TargetRecall(recall=recall))
        assert isinstance(found, Point)
        assert (found.counts.true_positives, found.counts.false_positives) == (hits, hits - 1)


def test_a_local_threshold_is_the_next_rank_since_equality_does_not_select() -> None:
    ranks = np.array([0.0, 12.5, 12.5, 40.0, 100.0])
    labelled = Units(np.where(ranks < 100, -ranks, -math.inf), np.array([1, 1, 0, 0, 0], dtype=np.bool_))
    found = calibrate(trade_off(labelled.piles()), LocalRule(), TargetRecall(recall=0.5))
    assert found == Point(12.5, labelled.piles().counts(LocalRule(), 12.5))
    widest = calibrate(trade_off(labelled.piles()), LocalRule(), TargetRecall(recall=1.0))
    assert isinstance(widest, Point)
    assert widest.threshold == 40.0
    last = Units(np.array([0.0, -40.0, -math.inf]), np.array([1, 1, 0], dtype=np.bool_))
    assert calibrate(trade_off(last.piles()), LocalRule(), TargetRecall(recall=1.0)) == Point(
        100.0, last.piles().counts(LocalRule(), 100.0)
    )


@pytest.mark.parametrize(
    ("pairs", "goal", "reason"),
    [
        ([(1.0, False), (2.0, False)], BestF1(), "hold no targets"),
        ([(1.0, True), (2.0, True)], BestF1(), "hold no units that are no targets"),
        ([(-math.inf, True), (-math.inf, False)], BestF1(), "No validation unit can be masked at any threshold"),
        (
            [(1.0, True), (-math.inf, True), (0.0, False)],
            TargetRecall(recall=0.9),
            "Recall 90.0% cannot be reached, 50.0% is the most: 1 of 2 targets are masked at no threshold",
        ),
        ([(1.0, False), (0.0, True)], BestF1(), "The best F1, 0.667, is not above that of masking everything, 0.667"),
        ([(1.0, False), (0.5, True), (0.0, False)], RecallUnderCap(collateral=0.1), "come with 50.00%"),
        ([(1.0, False), (0.5, True), (0.0, True)], TargetRecall(recall=0.5), "no better than chance"),
        ([(1.0, False), (-math.inf, True)], RecallUnderCap(collateral=0.5), "No target can be masked at any threshold"),
    ],
)
def test_where_no_point_is_acceptable_the_reason_is_said(
    pairs: list[tuple[float, bool]], goal: Goal, reason: str
) -> None:
    found = calibrate(trade_off(units(pairs).piles()), GlobalRule(), goal)
    assert isinstance(found, NoPoint)
    assert reason in found.reason


def test_characters_count_overlapping_labels_once_and_what_was_cut_as_not_covered() -> None:
    tokens = tokens_of([[0, 1]], [[(0, 2), (2, 3)]])
    labels = Spans.of([[(1, 3), (2, 5)]])
    found = character_units(tokens, np.array([0.5, 2.0]), labels, np.array([6]))
    assert found.levels.tolist() == [0.5, 0.5, 2.0, -math.inf, -math.inf, -math.inf]
    assert found.target.tolist() == [False, True, True, True, True, False]


def test_a_line_is_masked_once_all_its_tokens_are_and_is_a_target_by_its_own_characters() -> None:
    text = "a\n  b\nc\nd"  # tokens: a, the line end with the indent, b, its line end, c, its line end; d was cut
    tokens = tokens_of([[0, 1, 2, 3, 4, 5]], [[(0, 1), (1, 4), (4, 5), (5, 6), (6, 7), (7, 8)]])
    pieces = tile([text], lines)
    cover = tiled_windows(tokens, pieces)
    found = piece_units(np.array([3.0, 2.0, 5.0, 4.0, 1.0, 1.5]), cover, pieces, Spans.of([[(2, 6)]]))
    assert found.levels.tolist() == [2.0, 4.0, 1.0, -math.inf]
    assert found.target.tolist() == [False, True, False, False]


def test_a_threshold_is_carried_from_each_group_to_each() -> None:
    validation = {"a": units([(3.0, True), (1.0, False)]), "b": units([(1.0, False), (-math.inf, True)])}
    application = {"a": units([(3.5, True), (3.0, False), (0.0, False)]), "b": units([(2.0, True), (0.0, False)])}
    before, after = ({name: each.piles() for name, each in part.items()} for part in (validation, application))
    table = transfer(before, after, GlobalRule(), TargetRecall(recall=1.0))
    assert table.calibrated["a"] == Point(3.0, validation["a"].piles().counts(GlobalRule(), 3.0))
    assert isinstance(table.calibrated["b"], NoPoint)
    assert {pair: (c.true_positives, c.false_positives) for pair, c in table.counts.items()} == {
        ("a", "a"): (1, 1),
        ("a", "b"): (0, 0),
    }


def test_units_of_a_residual_or_a_group_are_a_choice_of_units() -> None:
    left = units([(3.0, True), (1.0, False), (2.0, True)]).only(np.array([True, True, False]))
    assert (left.levels.tolist(), left.target.tolist()) == ([3.0, 1.0], [True, False])


def test_histograms_share_their_edges_and_count_what_is_never_masked() -> None:
    drawn = histograms(units([(0.0, True), (4.0, True), (1.0, False), (4.0, False), (-math.inf, True)]).piles(), 2)
    assert drawn.edges.tolist() == [0.0, 2.0, 4.0]
    assert (drawn.targets.tolist(), drawn.others.tolist()) == ([1, 1], [1, 1])
    assert (drawn.targets_never_masked, drawn.others_never_masked) == (1, 0)
    with pytest.raises(ValueError, match="no unit has a finite level"):
        histograms(units([(-math.inf, True)]).piles(), 2)


def test_a_curve_without_targets_has_no_recall_and_a_level_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="there are no targets: AUROC is not defined"):
        _ = trade_off(units([(1.0, False)]).piles()).auroc
    with pytest.raises(ValueError, match="unit 1: level NaN"):
        units([(1.0, True), (math.nan, True)])
