"""The page says what its means leave out."""

from collections.abc import Sequence

from tasks.masking_study.config import scale_of
from tasks.masking_study.report.study import Setup, Study, markdown
from tasks.masking_study.results import CellResult
from tasks.masking_study.yardsticks import Yardsticks
from tests.tasks.masking_study.cells import cell

SETUP = Setup(
    study="code-pii",
    size="mini",
    reference="smollm2-135m",
    trained_tokens=100,
    calibration_tokens=50,
    scoring_s=60.0,
    yardsticks=Yardsticks(unigram=5.0, uniform=7.0),
    counts={"chats/train.parquet": {"implementation": 3}},
    calibration={},
    missing={},
    has_filter=False,
    scale=scale_of("code-pii", "mini"),
    cores=2,
)


def page(results: Sequence[CellResult]) -> str:
    return markdown(Study(SETUP, tuple(results), planned=len(results)))


def without(result: CellResult, left_out: int) -> CellResult:
    return result.model_copy(update={"useful": result.useful.model_copy(update={"gold_left_out": left_out})})


def test_gold_answers_that_are_in_no_mean_are_told() -> None:
    results = [without(cell("unmasked"), 0), without(cell("oracle"), 3)]
    assert "- Gold answers too long for the model's window, in no mean: 3." in page(results)


def test_nothing_is_said_where_every_gold_answer_counts() -> None:
    assert "in no mean" not in page([cell("unmasked"), cell("oracle")])
