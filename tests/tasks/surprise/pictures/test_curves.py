import numpy as np
import pytest

from tasks.surprise.calibrate import Point, TargetRecall, calibrate
from tasks.surprise.curve import Curve, histograms, trade_off
from tasks.surprise.evaluation.results import operating_points
from tasks.surprise.pictures import curves
from tasks.surprise.pictures.routing import tradeoff
from tasks.surprise.piles import Piles
from tasks.surprise.routing.results import Outcome
from tasks.surprise.rules import GlobalRule, LocalRule, Rule

UNITS = Piles.of(np.array([3.0, 2.0, 2.0, 1.0, -np.inf]), np.array([True, False, True, False, True]))


def curve() -> Curve:
    return trade_off(UNITS)


def test_a_roc_curve_goes_from_corner_to_corner_and_its_area_is_the_auroc() -> None:
    fpr, tpr = curves.roc_points(curve())
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert np.trapezoid(tpr, fpr) == pytest.approx(curve().auroc)


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    levels = np.arange(1000.0)
    long = trade_off(Piles.of(levels, levels % 3 == 0))
    fpr, tpr = curves.roc_points(long, most=10)
    assert fpr.size == 12
    assert (fpr[-2], tpr[-2]) == (1.0, 1.0)


@pytest.mark.parametrize("rule", [GlobalRule(), LocalRule()])
def test_pictures_are_png_and_the_same_bytes_each_time(rule: Rule) -> None:
    units = UNITS if isinstance(rule, GlobalRule) else Piles(UNITS.levels - 50, UNITS.targets, UNITS.others)
    given = trade_off(units)
    chosen = calibrate(given, rule, TargetRecall(recall=0.5))
    assert isinstance(chosen, Point)
    drawn = [
        curves.calibration(given, histograms(units, 5), operating_points(given, rule), chosen, rule) for _ in range(2)
    ]
    assert drawn[0].startswith(b"\x89PNG")
    assert drawn[0] == drawn[1]


def test_operating_points_at_one_place_share_a_name() -> None:
    given = trade_off(Piles.of(np.array([3.0] * 8 + [2.0] * 2 + [1.0]), np.array([True] * 10 + [False])))
    named = {name: places[0] for name, places in curves.named_places(operating_points(given, GlobalRule()))}
    assert named == {"SM50, SM70": (0.0, 0.8), "SM90, SM95, best F1": (0.0, 1.0)}


def test_names_with_markup_and_control_characters_are_drawn() -> None:
    assert curves.roc([curves.RocPair("$a_b^\x1b[31m" * 9, curve(), curve())]).startswith(b"\x89PNG")
    assert curves.roc_of_methods([curves.NamedCurve("OPF", curve())]).startswith(b"\x89PNG")
    points = [curves.FixedPoint(f"rule {place}", place / 40, place / 40) for place in range(40)]
    assert curves.roc_of_methods([], points).startswith(b"\x89PNG")
    assert curves.roc([curves.RocPair("a", curve(), curve())], points[:1]).startswith(b"\x89PNG")


def test_interventions_are_drawn_with_and_without_a_judge() -> None:
    for kept in (None, 0.9):
        made = [
            Outcome("document", 3, 3, 0, 0.8, 0.6, kept, 24.0),
            Outcome("surprise 20%", 3, 2, 0, 0.4, 0.9, kept, 0.0),
        ]
        assert tradeoff(made).startswith(b"\x89PNG")
