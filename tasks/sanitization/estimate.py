"""What sanitizing a record takes at each step, before any was: measured at two lengths, a straight line between them.

Chunks, and with them calls and tokens, grow with the text; what is asked once a record or a target does not.
"""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from tasks.synthesis.estimate import StepRate

TABLE_FILE = Path(__file__).with_name("measured.toml")


class MeasuredTable(BaseModel):
    """The shipped table.

    Attributes:
        rows: records of each length.
        words: of a short and of a long record, on average.
        steps: what each step took for one record of either length.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int = Field(ge=1)
    words: tuple[float, float]
    steps: dict[str, tuple[StepRate, StepRate]]


@cache
def shipped() -> MeasuredTable:
    """Read the table that ships with this package."""
    return MeasuredTable.model_validate(tomllib.loads(TABLE_FILE.read_text(encoding="utf-8")))


def rates_at(words: float, table: MeasuredTable | None = None) -> dict[str, StepRate]:
    """Return what a record of so many words is expected to take, by the shipped table or another one."""
    table = table or shipped()
    low, high = table.words
    place = (words - low) / (high - low)

    def one(short: StepRate, long: StepRate) -> StepRate:
        from_to = {name: (getattr(short, name), getattr(long, name)) for name in StepRate.model_fields}
        return StepRate(**{name: max(0.0, a + place * (b - a)) for name, (a, b) in from_to.items()})

    return {step: one(*rates) for step, rates in table.steps.items()}
