"""Tables made of constructed results."""

from tasks.masking_study.report import tables
from tasks.masking_study.report.paper import paper_on
from tasks.masking_study.report.rows import rows_of
from tests.tasks.masking_study.cells import cell

PII, QUIRKS = paper_on("code-pii"), paper_on("code-quirks")
RESULTS = (
    cell("unmasked", seed=0, leak=0.50, nll=1.0),
    cell("SM95", seed=0, leak=0.10, nll=1.2, coverage=0.9, collateral=0.1),
    cell("SM95", action="clip", seed=0, leak=0.20, nll=1.1, coverage=0.9, collateral=0.1),
    cell("unmasked", seed=1, leak=0.70, nll=1.4),
    cell("SM95", seed=1, leak=0.10, nll=1.2, coverage=0.9, collateral=0.1),
)


def test_rows_are_means_over_seeds_with_standard_errors_beside_the_papers_figures() -> None:
    table = tables.outcomes(rows_of(RESULTS), PII, baseline=3.25)
    unmasked, masked, counts = table.body
    # 50 and 70: mean 60, deviation 10 each way, variance 200 / 1, error sqrt(200 / 2) = 10.
    assert unmasked[:5] == ("unmasked", "2", "0.0 ± 0.0", "0.0 ± 0.0", "60.0 ± 10.0")
    assert unmasked[6] == "1.200 ± 0.200"
    assert unmasked[8:] == ("66.3 ± 4.1", "60.6 ± 3.8")
    assert masked[2:5] == ("90.0 ± 0.0", "10.0 ± 0.0", "10.0 ± 0.0")
    assert counts[6] == "3.250"
    assert {len(row) for row in table.body} == {len(table.head)}


def test_other_actions_are_in_a_table_of_their_own_with_one_seed_and_no_error() -> None:
    rows = rows_of(RESULTS)
    assert [row[0] for row in tables.outcomes(rows, PII, None).body] == ["unmasked", "SM95"]
    actions = {row[0]: row for row in tables.actions(rows, PII).body}
    assert list(actions) == ["unmasked", "SM95", "SM95, clip"]
    assert actions["SM95, clip"][1:5] == ("20.0", "4.0", "10.0", "1.0")
    assert actions["SM95, clip"][-1] == "12"


def test_kinds_and_budgets_have_a_column_each() -> None:
    rows = rows_of(RESULTS)
    kinds = tables.kinds(rows, PII)
    assert kinds.head == ("method", "username", "recovery", "paper")
    assert kinds.body[0][1:] == ("60.0 ± 10.0", "60.0 ± 10.0", "9.3 / 94.7 / 86.7 / 74.7")
    budgets = tables.budgets(rows, PII)
    assert budgets.head == ("method", "b=1", "b=8", "paper")
    assert budgets.body[0][1:3] == ("30.0 ± 5.0", "60.0 ± 10.0")


def test_habits_are_shown_with_the_answers_that_are_no_python() -> None:
    rows = rows_of([cell("unmasked", leak=0.3, displayed=True)])
    assert tables.habits(rows).head == ("method", "semicolons", "parentheses", "no Python")
    assert tables.habits(rows).body == (("unmasked", "30.0", "0.0", "25.0"),)
    (row,) = tables.outcomes(rows, QUIRKS, None).body
    assert row[4] == "30.0"
    assert row[-2:] == ("23.6", "35.0")


def test_calibration_stands_beside_what_its_mask_covers_and_a_missing_threshold_is_shown() -> None:
    reached = {"chosen": {"threshold": 2.5, "recall": 0.952, "collateral": 0.04}}
    missing = {"chosen": {"threshold": None, "reason": "none"}}
    table = tables.calibration({"SM95": reached, "SM70": missing}, rows_of(RESULTS), PII)
    assert table.body[0] == ("SM95", "2.500", "95.2", "4.0", "90.0 ± 0.0", "10.0 ± 0.0", "98.5")
    assert table.body[1][:3] == ("SM70", "–", "–")


def test_correlations_are_over_models_that_mask_the_loss() -> None:
    line = [cell("unmasked", leak=1.0), cell("SM50", leak=0.5, coverage=0.5), cell("SM95", leak=0.0, coverage=1.0)]
    aside = cell("SM95", action="clip", leak=1.0, coverage=1.0)
    table = tables.correlations([*line, aside])
    assert table.body[0] == ("targets masked, privacy", "-1.000", "3")
    assert table.body[1] == ("others masked, gold NLL", "–", "3")  # all the same


def test_markdown_has_a_line_a_row() -> None:
    table = tables.Table("T", ("a", "b"), (("x", "1"),))
    assert table.markdown() == "**T**\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n"
