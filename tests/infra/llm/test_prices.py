import pytest

from infra.llm.connect import Endpoint, price_of
from infra.llm.prices import FREE, Price, UnknownPrice, cost, list_price, price_table
from infra.llm.types import Usage


def test_cached_tokens_are_billed_at_their_own_price() -> None:
    usage = Usage(prompt=1_000_000, cached=400_000, completion=50_000, reasoning=20_000)
    assert cost(usage, Price(prompt=2.0, cached=0.5, completion=8.0)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.05 * 8)


def test_our_own_engines_cost_nothing() -> None:
    assert cost(Usage(prompt=10**9, completion=10**9), FREE) == 0.0


def test_the_table_knows_the_paid_models_of_the_mix() -> None:
    assert list_price("gpt-4.1-mini") == Price(prompt=0.4, cached=0.1, completion=1.6)
    assert {"gpt-4.1", "openai/gpt-oss-120b"} <= price_table().models.keys()
    assert all(price.cached <= price.prompt for price in price_table().models.values())


def test_an_unknown_model_says_how_to_give_its_price() -> None:
    with pytest.raises(UnknownPrice, match=r"'acme-1'.*price = \{ prompt"):
        price_of(Endpoint(model="acme-1"))


def test_the_configuration_comes_before_the_table() -> None:
    price = Price(prompt=1, cached=1, completion=1)
    assert price_of(Endpoint(model="gpt-4.1", price=price)) == price
    assert price_of(Endpoint(model="my-deployment", price="gpt-4.1")) == list_price("gpt-4.1")
