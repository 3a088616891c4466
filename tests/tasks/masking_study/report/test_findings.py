"""Claims of the paper, judged on constructed results."""

from tasks.masking_study.report.findings import findings
from tasks.masking_study.report.rows import rows_of
from tests.tasks.masking_study.cells import cell

AS_IN_THE_PAPER = (
    cell("unmasked", leak=0.80, nll=1.0),
    cell("oracle", leak=0.0, nll=1.0),
    cell("SM50", leak=0.4, nll=1.0),
    cell("SM95", leak=0.08, nll=1.09),
    cell("random:SM95", leak=0.8, nll=1.05),
    cell("goldfish:2", leak=0.1, nll=1.11),
    cell("SM95", action="clip", leak=0.8, nll=9.0),
)


def test_all_of_it_holds_where_figures_are_as_in_the_paper() -> None:
    found = findings(rows_of(AS_IN_THE_PAPER))
    assert [each.holds for each in found] == [True] * 6
    assert found[2].claim == "SM95 cuts it to a tenth or less"
    assert found[2].ours == "8.0 % of 80.0 %"


def test_each_claim_can_fail() -> None:
    otherwise = (
        cell("unmasked", leak=0.59, nll=1.0),
        cell("oracle", leak=0.06, nll=1.0),
        cell("SM95", leak=0.06, nll=1.11),
        cell("random:SM95", leak=0.47, nll=1.0),
        cell("goldfish:2", leak=0.1, nll=1.09),
    )
    assert [each.holds for each in findings(rows_of(otherwise))] == [False] * 6


def test_nothing_is_claimed_without_unmasked_training() -> None:
    assert findings(rows_of(AS_IN_THE_PAPER[1:])) == []


def test_of_habits_the_policy_that_masks_least_is_judged_and_random_only_against_it() -> None:
    results = (
        cell("unmasked", leak=0.30, displayed=True),
        cell("SM20", leak=0.03, displayed=True),
        cell("random:SM20", leak=0.04, displayed=True),
        cell("SM70", leak=0.00, nll=3.0, displayed=True),
    )
    found = {each.claim: each.holds for each in findings(rows_of(results))}
    assert len(found) == 4
    assert all(found.values())
    assert "Random masking of SM20's budget shows more habits than SM20" in found
