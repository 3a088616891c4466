import pytest

from tasks.surprise.calibrate import BestF1, RecallUnderCap, TargetRecall
from tasks.surprise.evaluation.notation import Misspelled, ScoreChoice, goal_of, rule_of, score_of, unit_of, windows_of
from tasks.surprise.evaluation.presets import PRESETS
from tasks.surprise.procedure import FixedWindows, MeanScore, RegionWindows, TextWindows, TopScore, WholeWindows
from tasks.surprise.rules import GlobalRule, LocalRule


def test_windows_are_read_by_their_short_form() -> None:
    assert windows_of("fixed:4") == FixedWindows(width=4)
    assert windows_of("lines") == TextWindows(kind="lines")
    assert windows_of("responses") == RegionWindows(kind="responses")
    assert windows_of("whole") == WholeWindows()


@pytest.mark.parametrize("text", ["fixed", "fixed:0", "fixed:four", "lines:2", "paragraphs", ""])
def test_misspelled_windows_are_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(Misspelled, match="fixed:N"):
        windows_of(text)


def test_a_score_says_what_is_read_and_how_it_is_averaged() -> None:
    assert score_of("mean") == ScoreChoice("plain", MeanScore())
    assert score_of("contrast") == ScoreChoice("contrast", MeanScore())
    assert score_of("top:3+prompted") == ScoreChoice("prompted", TopScore(count=3))


@pytest.mark.parametrize("text", ["top", "top:0", "mean+top:3", "prompted+contrast", "median"])
def test_misspelled_scores_are_refused(text: str) -> None:
    with pytest.raises(Misspelled):
        score_of(text)


def test_local_counts_neighbours_on_both_sides_together() -> None:
    assert rule_of("local:64") == LocalRule(neighbours=32)
    assert rule_of("global") == GlobalRule()
    with pytest.raises(Misspelled, match="even number"):
        rule_of("local:63")


def test_a_threshold_has_one_goal_and_sm95_where_none_is_given() -> None:
    assert goal_of(None, False, None) == TargetRecall(recall=0.95)
    assert goal_of(None, True, None) == BestF1()
    assert goal_of(None, False, 0.01) == RecallUnderCap(collateral=0.01)
    with pytest.raises(Misspelled, match="one goal"):
        goal_of(0.5, True, None)
    with pytest.raises(Misspelled, match="95"):
        goal_of(95, False, None)


def test_units_are_those_a_policy_knows() -> None:
    assert unit_of("line") == "line"
    with pytest.raises(Misspelled, match="completion"):
        unit_of("word")


def test_presets_are_the_papers_table_5() -> None:
    code = PRESETS["code-pii"].procedure
    assert (code.windows, code.consensus, code.propagation and code.propagation.width) == (FixedWindows(width=4), 4, 4)
    quirks = PRESETS["code-quirks"].procedure
    assert (quirks.windows, quirks.rule, quirks.consensus) == (FixedWindows(width=2), LocalRule(neighbours=32), 2)
    assert PRESETS["piibench"].procedure.windows == FixedWindows(width=16)
    assert PRESETS["piibench-contrast"].reading == "contrast"
    assert PRESETS["dead-code"].unit == "line"
    assert PRESETS["rat-bench"].procedure.score == TopScore(count=3)
    assert PRESETS["redacbench"].reading == "prompted"
