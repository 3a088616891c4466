"""What sanitizing will take, by the shipped table or another one."""

import pytest

from tasks.sanitization.estimate import MeasuredTable, rates_at, shipped
from tasks.synthesis.estimate import StepRate


def test_what_grows_with_the_text_grows_in_a_straight_line_and_never_falls_below_nothing() -> None:
    short = StepRate(calls=2, prompt=100, cached=10, completion=30)
    long = StepRate(calls=4, prompt=300, cached=10, completion=90)
    table = MeasuredTable(rows=1, words=(100, 300), steps={"spans": (short, long)})
    assert rates_at(200, table) == {"spans": StepRate(calls=3, prompt=200, cached=10, completion=60)}
    assert rates_at(400, table) == {"spans": StepRate(calls=5, prompt=400, cached=10, completion=120)}
    assert rates_at(0, table)["spans"].prompt == 0  # not -50


def test_the_shipped_table_gives_back_what_was_measured() -> None:
    table = shipped()
    for place, words in enumerate(table.words):
        for step, rate in rates_at(words).items():
            assert rate.model_dump() == pytest.approx(table.steps[step][place].model_dump())
