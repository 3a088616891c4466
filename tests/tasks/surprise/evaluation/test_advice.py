import math

import numpy as np

from tasks.surprise.calibrate import NoPoint, Point, TargetRecall, calibrate
from tasks.surprise.curve import Curve, trade_off
from tasks.surprise.evaluation.advice import advice
from tasks.surprise.evaluation.results import operating_points
from tasks.surprise.piles import Piles
from tasks.surprise.procedure import FixedWindows, Procedure
from tasks.surprise.rules import GlobalRule, LocalRule

CODE = Procedure(windows=FixedWindows(width=2), rule=GlobalRule())


def curve(targets: list[float], others: list[float]) -> Curve:
    levels = np.array([*targets, *others])
    return trade_off(Piles.of(levels, np.arange(levels.size) < len(targets)))


def said(given: Curve, chosen: Point | NoPoint, procedure: Procedure = CODE, spans: int = 100) -> str:
    return "\n".join(advice(given, chosen, procedure, "character", labelled_spans=spans, unprompted=True))


def test_a_good_point_is_told_with_its_price_its_bound_and_the_next_step() -> None:
    given = curve([4.0] * 9 + [3.0], [1.0] * 39 + [3.5])
    chosen = calibrate(given, GlobalRule(), TargetRecall(recall=0.9))
    text = said(given, chosen)
    assert "90.0% of the private characters are masked, at the price of 0.0% of all others." in text
    assert "second labelled set" in text
    assert f"{math.exp(-2 * 4 * 8):.1e}" in text  # 16 tokens at tau 4, windows of two
    assert "no formal guarantee" in text
    assert "labelled spans" not in text


def test_no_point_says_why_and_what_else_to_try() -> None:
    given = curve([1.0], [2.0, 3.0])
    chosen = calibrate(given, GlobalRule(), TargetRecall(recall=0.9))
    text = said(given, chosen, spans=1)
    assert text.startswith("No acceptable point, because masking 100.0% of the targets takes 100.0%")
    assert "AUROC 0.00 is below chance: private content is less surprising" in text
    assert "--rule local:64" in text
    assert "Only 1 labelled spans" in text


def test_much_collateral_and_a_trivial_f1_are_named() -> None:
    given = curve([5.0, 2.0], [3.0, 3.0, 1.0, 1.0, 1.0, 1.0])
    chosen = calibrate(given, GlobalRule(), TargetRecall(recall=0.9))
    text = said(given, chosen)
    assert "at the price of 33.3% of all others" in text
    assert "data set for release will not" in text


def test_no_bound_is_stated_for_local_ranks() -> None:
    given = curve([-10.0], [-90.0])
    chosen = calibrate(given, LocalRule(), TargetRecall(recall=0.9))
    local = Procedure(windows=FixedWindows(width=2), rule=LocalRule())
    assert "probability" not in said(given, chosen, local)


def test_operating_points_are_the_papers_and_the_best_f1() -> None:
    given = curve([10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], [5.5, 0.5])
    points = {each.name: each.point for each in operating_points(given, GlobalRule())}
    thresholds = {name: point.threshold for name, point in points.items() if isinstance(point, Point)}
    assert thresholds == {"SM50": 6.0, "SM70": 4.0, "SM90": 2.0, "SM95": 1.0, "best F1": 1.0}
