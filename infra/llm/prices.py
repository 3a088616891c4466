"""What a token costs: a dated table of public list prices, and the sum over a call."""

import tomllib
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from infra.llm.types import Usage

TABLE_FILE = Path(__file__).with_name("prices.toml")
_PER_MILLION = 1_000_000


class UnknownPrice(LookupError):
    """A model that the table does not know; guessing zero would hide a bill."""


class Price(BaseModel):
    """List price of one model, in USD per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: float = Field(ge=0)
    cached: float = Field(ge=0, description="prompt tokens that the provider's prefix cache answered")
    completion: float = Field(ge=0, description="reasoning tokens included")


BATCH_SHARE = 0.5  # of these prices is what providers bill for batches
FREE = Price(prompt=0, cached=0, completion=0)  # engines on our own machines


class PriceTable(BaseModel):
    """The shipped prices and the day on which they were looked up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    models: dict[str, Price]


@lru_cache(maxsize=1)
def price_table() -> PriceTable:
    """Read the table that ships with this package."""
    return PriceTable.model_validate(tomllib.loads(TABLE_FILE.read_text(encoding="utf-8")))


def list_price(name: str) -> Price:
    """Return the list price of ``name``.

    Raises:
        UnknownPrice: the table has no such model.
    """
    table = price_table()
    if name not in table.models:
        raise UnknownPrice(
            f"no price known for model {name!r} (table of {table.as_of}); "
            "give one in the configuration, in USD per million tokens: "
            "price = { prompt = 0.40, cached = 0.10, completion = 1.60 }, all zero for a server of your own, "
            f"or name a model of the table: {', '.join(sorted(table.models))}"
        )
    return table.models[name]


def cost(usage: Usage, price: Price) -> float:
    """Return what ``usage`` costs, in USD; cached prompt tokens are billed at their own price."""
    dollars = (
        (usage.prompt - usage.cached) * price.prompt + usage.cached * price.cached + usage.completion * price.completion
    )
    return dollars / _PER_MILLION
