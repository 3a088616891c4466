from io import StringIO

from rich.console import Console

from tasks.surprise.evaluation.results import Figures, Result
from tasks.surprise.evaluation.terminal import render_results
from tasks.surprise.metrics import Counts

FIGURES = Figures(Counts(true_positives=3, false_positives=1, false_negatives=1, true_negatives=5), None)
NAMES = ("detect-secrets", "CredSweeper", "Goldfish (reference) k=3", "random 0.25", "oracle")


def printed(methods: int) -> list[str]:
    results = [Result(name, None, FIGURES, {"key": FIGURES, "token": FIGURES}) for name in NAMES[:methods]]
    console = Console(width=80, record=True, file=StringIO())
    console.print(render_results(results, "character"))
    return console.export_text().splitlines()


def test_many_methods_stand_below_each_other_and_their_names_are_not_torn() -> None:
    lines = printed(5)
    for name in ("detect-secrets", "CredSweeper", "random 0.25"):
        assert sum(name in line for line in lines) == 3  # overall, and in both categories
    assert sum(line.split()[:1] == ["key"] for line in lines) == 1


def test_a_few_methods_stand_side_by_side() -> None:
    (heading,) = (line for line in printed(2) if line.split()[:1] == ["category"])
    assert "detect-secrets" in heading
    assert "CredSweeper" in heading


def test_the_title_of_a_narrow_table_is_not_broken_to_its_width() -> None:
    assert "F1 of each category, other categories left out" in [line.strip() for line in printed(5)]
