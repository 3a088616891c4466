"""Figures of one model: written, read back, looked up."""

import pytest

from tasks.masking_study.results import CellResult
from tests.tasks.masking_study.cells import cell


def test_figures_survive_being_written() -> None:
    made = cell("SM95", action="clip", coverage=None)
    assert CellResult.model_validate_json(made.model_dump_json()) == made


def test_extraction_is_looked_up_by_budget_kind_and_match() -> None:
    made = cell("unmasked", leak=0.8)
    assert made.extraction() == 0.8  # of the largest budget
    assert made.extraction(1) == 0.4
    assert made.extraction(kind="username", exact=True) == 0.4
    with pytest.raises(KeyError, match="no rate of kind all within 2"):
        made.extraction(2)


def test_privacy_is_extraction_or_display_and_never_made_up() -> None:
    assert cell("unmasked", leak=0.8).privacy == 0.8
    assert cell("unmasked", leak=0.3, displayed=True).privacy == 0.3
    neither = cell("unmasked").model_copy(update={"extracted": ()})
    with pytest.raises(ValueError, match="neither values nor habits"):
        _ = neither.privacy
