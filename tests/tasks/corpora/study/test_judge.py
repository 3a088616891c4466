"""Figures by hand: every character is a token."""

from collections.abc import Sequence

import pytest

from tasks.corpora.study.benchmarks import BENCHMARKS, Counted, Fold, Prepared
from tasks.corpora.study.judge import Calibrated, Judged, Others, judge
from tasks.corpora.study.markdown import Effort, markdown
from tasks.corpora.study.paper import Paper, paper_on
from tasks.surprise.baselines.fixed import Oracle
from tasks.surprise.baselines.loss import SelectiveTokenMasking
from tasks.surprise.baselines.methods import Material, Method
from tasks.surprise.calibrate import BestF1
from tasks.surprise.evaluation.presets import PRESETS, Setting
from tasks.surprise.policy import Reference
from tasks.surprise.procedure import FixedWindows, Procedure
from tasks.surprise.rules import GlobalRule
from tasks.surprise.scored import ScoredSet
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row, score_table

SETTING = Setting(
    "plain", Procedure(windows=FixedWindows(width=1), rule=GlobalRule()), "character", BestF1(), "characters alone"
)


def row(index: int, nll: list[float], labels: list[tuple[int, int, str]], side: str) -> dict[str, object]:
    return score_row(
        index,
        "abcdefgh"[: len(nll)],
        {"plain": nll},
        labels=[{"start": start, "end": end, "category": category} for start, end, category in labels],
        labelled=True,
        strata=[{"name": "side", "value": side}],
    )


ROWS = [
    row(0, [0, 5, 5, 0], [(1, 3, "key")], "left"),
    row(1, [1, 6, 7, 0], [(1, 2, "key")], "left"),
    row(2, [0, 4, 0, 9], [(1, 2, "name"), (3, 4, "key")], "right"),
    row(3, [9, 0, 0, 9], [(1, 3, "key")], "right"),
]
SCORED = ScoredSet(score_table(ROWS), Reference(model=MODEL, tokenizer_sha256=TOKENIZER), "b" * 64)
GOOD = Fold(("validation", frozenset({"d0"})), {"application": frozenset({"d1", "d2"})})
BAD = Fold(("validation", frozenset({"d3"})), {"application": frozenset({"d1", "d2"})})


def nothing(material: Material, at: Calibrated | None) -> Sequence[tuple[str, Method]]:
    return []


def judged(folds: Sequence[Fold], others: Others = nothing, transfers: Sequence[str] = ()) -> Judged:
    return judge(SCORED, folds, SETTING, others, transfers)


def test_the_threshold_of_the_validation_part_is_used_on_the_application() -> None:
    validation, application = judged([GOOD]).rows
    assert (validation.part, validation.method, validation.threshold) == ("validation", "SM", 5.0)
    assert validation.figures is not None
    assert validation.figures.counts.f1 == 1.0
    assert application.threshold == 5.0
    assert application.figures is not None
    counts = application.figures.counts  # of 6, 7, 9 that are masked 6 and 9 are targets; 4 is missed
    assert (counts.true_positives, counts.false_positives, counts.false_negatives) == (2, 1, 1)
    assert (application.documents, validation.documents) == (2, 1)
    # pairs of a target (6, 4, 9) and another (1, 7, 0, 0, 0): 4 + 4 + 5 of 15 are in order
    assert application.auroc == pytest.approx(13 / 15)
    assert application.validation_auroc == 1.0
    assert set(application.categories) == {"key", "name"}
    assert application.categories["name"].counts.true_positives == 0


def test_where_no_threshold_is_acceptable_the_reason_stands_in_place_of_figures() -> None:
    validation, application = judged([BAD]).rows
    assert (application.figures, application.threshold) == (None, None)
    assert application.reason == validation.reason
    assert "not above that of masking everything" in str(application.reason)
    assert application.auroc == pytest.approx(13 / 15)


def test_other_methods_stand_beside_and_are_told_of_the_calibrated_one() -> None:
    seen: list[Calibrated | None] = []

    def others(material: Material, at: Calibrated | None) -> Sequence[tuple[str, Method]]:
        seen.append(at)
        return [("oracle", Oracle()), ("stm", SelectiveTokenMasking(2.5))]

    rows = judged([GOOD, BAD], others).rows
    assert [(each.fold, each.part, each.method) for each in rows] == [
        (fold, part, method)
        for fold in (0, 1)
        for part, methods in (("validation", ["SM"]), ("application", ["SM", "oracle", "stm"]))
        for method in methods
    ]
    assert seen[0] is not None
    assert seen[0][0].threshold == 5.0
    assert seen[1] is None
    oracle, stm = rows[2], rows[3]
    assert oracle.figures is not None
    assert oracle.figures.counts.f1 == 1.0
    assert stm.figures is not None
    assert stm.figures.counts.tpr == 1.0


def test_thresholds_are_carried_over_between_strata() -> None:
    fold = Fold(("validation", frozenset({"d0", "d2"})), {"application": frozenset({"d1", "d3"})})
    table = judged([fold], transfers=["side"]).transfers["side"][0]
    assert list(table.groups) == ["left", "right"]
    counts = table.table.counts["right", "left"]  # 4 from d2 on 1, 6, 7, 0
    assert (counts.true_positives, counts.false_positives) == (1, 1)


def test_a_document_without_scores_is_named() -> None:
    with pytest.raises(ValueError, match="application: 1 of 2 documents have no scores, d9 for one"):
        judged([Fold(("validation", frozenset({"d0"})), {"application": frozenset({"d1", "d9"})})])


def page(folds: Sequence[Fold], paper: Paper, others: Others = nothing) -> str:
    prepared = Prepared(SCORED.documents, folds, [Counted("texts", 4, 4), Counted("spans", 6, 7)], [])
    effort = Effort(tokens=16, scoring_s=2.0, judging_s=1.0, machine="2 cores")
    found = judged(folds, others, ["side"])
    return markdown(
        BENCHMARKS["creddata"], SETTING, f"tiny@sha256:{'1' * 64}", prepared, found, paper, effort, "roc.png"
    )


PAPER = Paper.model_validate(
    {
        "reference": "large",
        "source": "Table 1",
        "unit": "characters",
        "rows": {"application": {"SM": {"f1": 0.5, "auroc": 0.75}, "OPF": {"f1": 0.9}}},
    }
)


def test_the_page_has_our_figures_beside_the_papers() -> None:
    lines = page([GOOD], PAPER).splitlines()
    head = next(line for line in lines if line.startswith("| part"))
    ours = next(line for line in lines if line.startswith("| application | SM |"))
    cells = dict(zip(head.split(" | "), ours.split(" | "), strict=True))
    assert cells["precision"] == "0.667"
    assert cells["F1"] == "0.667"
    assert cells["AUROC"] == "0.867"
    assert cells["paper F1"] == "0.500"
    assert any(line.startswith("| application | OPF (paper only) | – ") for line in lines)
    assert any("4 texts, 6 spans (**7 published**)" in line for line in lines)
    assert any(f"ours tiny@sha256:{'1' * 12}; the paper's large" in line for line in lines)


def test_the_page_gives_means_over_splits_and_says_where_one_is_missing() -> None:
    assert "| application | SM | 0.667 (1 of 2) |" in page([GOOD, BAD], PAPER)
    assert "- SM, split 2: The best F1" in page([GOOD, BAD], PAPER)
    other = Fold(("validation", frozenset({"d0"})), {"application": frozenset({"d1"})})
    assert "| application | SM | 0.583 ± 0.118 |" in page([GOOD, other], PAPER)  # 2/3 and 1/2


def test_a_method_that_stands_in_some_splits_only_is_not_shown_as_the_mean_of_all() -> None:
    def beside(material: Material, at: Calibrated | None) -> list[tuple[str, Method]]:
        return [("oracle", Oracle())] if at else []

    assert "| application | oracle | 1.000 (1 of 2) |" in page([GOOD, BAD], PAPER, beside)


def test_several_applications_have_a_mean_as_in_the_paper() -> None:
    fold = Fold(("validation", frozenset({"d0"})), {"one": frozenset({"d1"}), "two": frozenset({"d2"})})
    text = page([fold], PAPER)
    # F1: 1 true of 2 masked and 1 target (2/3), 1 true of 1 masked and 2 targets (2/3)
    assert "| mean | SM | 0.750 | 0.750 |" in text


def test_the_paper_has_figures_for_every_benchmark_and_its_parts() -> None:
    for name, benchmark in BENCHMARKS.items():
        assert benchmark.preset in PRESETS
        paper = paper_on(name)
        assert paper.rows
    dead_code = paper_on("dead-code").rows
    attacks = ["fixed-1", "grammar-1", "fixed-2", "grammar-2"]
    f1s = [dead_code[attack]["SM"].f1 or 0.0 for attack in attacks]
    assert round(sum(f1s) / 4, 3) == dead_code["mean"]["SM"].f1
