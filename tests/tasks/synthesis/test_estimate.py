from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.llm.prices import Price, cost
from infra.llm.types import Usage
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tasks.synthesis.estimate import MeasuredTable, PricedModel, Shape, StepRate, estimate, measured, scaled, shipped

TABLE = MeasuredTable(
    rows=10,
    shape=Shape(words=100, record_types=10, contexts=5, formats=10, attributes=20, revisions=2, label_share=1),
    steps={
        "profile": StepRate(calls=1, prompt=50, cached=5, completion=30),
        "record_types": StepRate(calls=1, prompt=60, cached=6, completion=100),
        "formats": StepRate(calls=1, prompt=70, cached=0, completion=80),
        "draft": StepRate(calls=1, prompt=80, cached=0, completion=200),
        "revise": StepRate(calls=2, prompt=600, cached=20, completion=400),
        "judge": StepRate(calls=2, prompt=900, cached=0, completion=10),
        "attributes": StepRate(calls=1, prompt=300, cached=0, completion=120),
        "groups": StepRate(calls=1, prompt=200, cached=20, completion=60),
        "label": StepRate(calls=1, prompt=400, cached=0, completion=5),
    },
)
AS_MEASURED = SynthesisConfig(
    words=100, record_types=10, contexts=5, formats=10, attributes=20, refinement=RefinementConfig(steps=2)
)
FREE = PricedModel("free", 1, lambda usage: 0.0)


def test_the_settings_of_the_table_give_the_table() -> None:
    assert scaled(AS_MEASURED, TABLE) == TABLE.steps


def test_longer_records_are_written_and_read_again_at_each_step_that_holds_them() -> None:
    rates = scaled(AS_MEASURED.model_copy(update={"words": 200}), TABLE)  # 200 tokens more in each text
    assert rates["draft"] == StepRate(calls=1, prompt=80, cached=0, completion=400)
    assert rates["revise"] == StepRate(calls=2, prompt=600 + 2 * 200, cached=20, completion=800)
    assert rates["judge"] == StepRate(calls=2, prompt=900 + 2 * 2 * 200, cached=0, completion=10)
    assert rates["attributes"].prompt == 300 + 200
    assert rates["label"].prompt == 400 + 200
    assert rates["profile"] == TABLE.steps["profile"]


def test_longer_lists_are_written() -> None:
    rates = scaled(AS_MEASURED.model_copy(update={"record_types": 5, "attributes": 40}), TABLE)
    assert rates["record_types"] == StepRate(calls=1, prompt=60, cached=6, completion=50)
    assert (rates["attributes"].prompt, rates["attributes"].completion) == (300, 240)
    assert rates["groups"] == StepRate(calls=1, prompt=20 + 2 * 180, cached=20, completion=120)


def test_what_is_asked_less_often_costs_less() -> None:
    config = AS_MEASURED.model_copy(update={"label_share": 0.25, "refinement": RefinementConfig(steps=1)})
    rates = scaled(config, TABLE)
    assert rates["label"] == StepRate(calls=0.25, prompt=100, cached=0, completion=1.25)
    assert rates["revise"] == StepRate(calls=1, prompt=300, cached=10, completion=200)


def test_ablations_leave_their_steps_out() -> None:
    plain = AS_MEASURED.model_copy(update={"record_type_and_format": False, "refinement": RefinementConfig(steps=0)})
    assert set(TABLE.steps) - set(scaled(plain, TABLE)) == {"record_types", "formats", "revise", "judge"}


def test_finished_shards_are_averaged_over_all_their_rows_and_revisions_added_up() -> None:
    first = {
        "draft": {"calls": 5, "prompt": 100, "cached": 10, "completion": 50, "reasoning": 0},
        "revise-1": {"calls": 5, "prompt": 200, "cached": 0, "completion": 60, "reasoning": 0},
        "revise-2": {"calls": 4, "prompt": 180, "cached": 0, "completion": 40, "reasoning": 0},
    }
    second = {"draft": {"calls": 3, "prompt": 60, "cached": 0, "completion": 30, "reasoning": 0}}
    assert measured(10, [first, second]) == {
        "draft": StepRate(calls=0.8, prompt=16, cached=1, completion=8),
        "revise": StepRate(calls=0.9, prompt=38, cached=0, completion=10),
    }


def test_an_estimate_is_rows_times_rates_priced_by_the_shares_of_the_mix() -> None:
    rates = {
        "draft": StepRate(calls=1, prompt=100, cached=40, completion=10),
        "judge": StepRate(calls=3, prompt=50, cached=0, completion=0),
    }
    models = [
        PricedModel("dear", 3, partial(cost, price=Price(prompt=10, cached=1, completion=100))),
        PricedModel("cheap", 1, partial(cost, price=Price(prompt=2, cached=2, completion=4))),
    ]
    outlook = estimate(1_000, rates, models, calls_per_s=2)
    assert outlook.calls == 4_000
    assert outlook.tokens == Usage(prompt=150_000, cached=40_000, completion=10_000)
    assert outlook.hours == pytest.approx(4_000 / 2 / 3_600)
    # dear: (110,000 x 10 + 40,000 x 1 + 10,000 x 100) / 10^6 = 2.14 USD for all rows; cheap: 0.30 + 0.04 = 0.34
    assert [(model.model, model.rows, model.calls) for model in outlook.models] == [
        ("dear", 750, 3_000),
        ("cheap", 250, 1_000),
    ]
    assert [model.cost_usd for model in outlook.models] == pytest.approx([2.14 * 3 / 4, 0.34 / 4])
    assert outlook.cost_usd == pytest.approx(2.14 * 3 / 4 + 0.34 / 4)
    draft, judge = outlook.steps
    assert (draft.step, draft.calls, draft.prompt, draft.cached, draft.completion) == (
        "draft",
        1_000,
        100_000,
        40_000,
        10_000,
    )
    assert draft.cost_usd + judge.cost_usd == pytest.approx(outlook.cost_usd)


def test_without_a_speed_nobody_knows_how_long() -> None:
    assert estimate(10, TABLE.steps, [FREE]).hours is None


def test_nothing_to_make_takes_nothing() -> None:
    outlook = estimate(0, TABLE.steps, [FREE], calls_per_s=1)
    assert (outlook.calls, outlook.tokens, outlook.cost_usd, outlook.hours) == (0, Usage(), 0, 0)


@settings(deadline=None, max_examples=50)
@given(
    words=st.integers(80, 3_000),
    items=st.integers(1, 30),
    attributes=st.integers(1, 100),
    steps=st.integers(0, 10),
    types=st.booleans(),
)
def test_the_shipped_table_gives_sane_rates_for_every_setting(
    words: int, items: int, attributes: int, steps: int, types: bool
) -> None:
    config = SynthesisConfig(
        words=words,
        record_types=items,
        contexts=items,
        formats=items,
        attributes=attributes,
        record_type_and_format=types,
        refinement=RefinementConfig(steps=steps),
    )
    rates = scaled(config)
    assert sum(rate.calls for rate in rates.values()) == pytest.approx(7 + 2 * types + 2 * steps)
    assert all(rate.prompt > rate.cached for rate in rates.values())
    assert rates["draft"].completion == pytest.approx(words * 421.32 / 344)


def test_the_shipped_table_is_whole() -> None:
    table = shipped()
    assert table.rows == 200
    assert Shape.of(SynthesisConfig()).model_copy(update={"words": 344}) == table.shape
