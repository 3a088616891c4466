"""Both pictures are drawn, whatever methods are done."""

import pytest

from tasks.masking_study.report.pictures import covered, tradeoff
from tasks.masking_study.report.rows import rows_of
from tests.tasks.masking_study.cells import cell

PNG = b"\x89PNG\r\n\x1a\n"
NAMES = ("unmasked", "oracle", "SM95", "random:SM95", "goldfish:2", "goldfish-reference:2", "opf")


def test_every_method_has_a_mark_and_the_same_results_the_same_picture() -> None:
    rows = rows_of([cell(name, seed=seed, leak=0.1 * seed) for seed in (0, 1) for name in NAMES])
    assert tradeoff(rows, "leak").startswith(PNG)
    assert covered(rows, "leak").startswith(PNG)
    assert tradeoff(rows, "leak") != tradeoff(rows[:-1], "leak")
    assert tradeoff(rows, "leak") == tradeoff(rows, "leak")


def test_a_method_of_no_family_is_told() -> None:
    with pytest.raises(ValueError, match="stm: a method of no family"):
        tradeoff(rows_of([cell("stm")]), "leak")
