"""What is known of one trained model: all figures that tables and pictures are made of, as versioned JSON."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tasks.masking_study.grid import Method
from tasks.measuring.extraction.attack import ExtractionResult
from tasks.measuring.quirks.display import Display
from tasks.measuring.utility.gold import GoldResult
from tasks.measuring.utility.passing import Passing
from tasks.training.masked.config import Action


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Masked(_Part):
    """What the masking covers of the training data, in tokens of the trained model."""

    supervised: int
    masked: int
    coverage: float | None = Field(description="share of the tokens on labelled spans")
    collateral: float | None = Field(description="share of all other supervised tokens")


class Extracted(_Part):
    """Values of one kind that are found within ``budget`` continuations, as shares of one."""

    kind: str
    budget: int
    values: int
    approximate: float
    exact: float


class Useful(_Part):
    """How well the model does what it was trained for."""

    gold_nll: float = Field(description="mean over gold answers, in nats a token")
    gold_left_out: int = Field(default=0, description="gold answers too long for the model, in no mean")
    passed: Mapping[int, float] = Field(description="k to pass@k, a share of one")
    endings: Mapping[str, int] = Field(description="how all answers ended when they were run")


class Displayed(_Part):
    """How often habits show, as shares of one."""

    mean: float
    quirks: Mapping[str, float]
    answers: int
    unparsable: int = Field(description="answers that are no Python")


class TrainedFor(_Part):
    """How training went."""

    steps: int
    passes: float
    documents: int
    loss: float = Field(description="of the last step, over the tokens that count")
    seconds: float


class CellResult(_Part):
    """One model."""

    version: Literal[1] = 1
    fingerprint: str = Field(description="of all that decides what comes out")
    masking: str
    action: Action
    seed: int
    masked: Masked
    trained: TrainedFor
    extracted: tuple[Extracted, ...] = ()
    useful: Useful
    displayed: Displayed | None = None
    measuring_s: float = Field(description="seconds of measuring, in the call that finished it")

    @property
    def method(self) -> Method:
        """The row of the tables that it belongs to."""
        return Method(self.masking, self.action)

    def extraction(self, budget: int | None = None, kind: str = "all", *, exact: bool = False) -> float | None:
        """Return a rate of extraction as a share of one; of the largest budget where none is named.

        None where the corpus has no private values.

        Raises:
            KeyError: no such budget or kind was measured.
        """
        if not self.extracted:
            return None
        asked = max(each.budget for each in self.extracted) if budget is None else budget
        for each in self.extracted:
            if (each.budget, each.kind) == (asked, kind):
                return each.exact if exact else each.approximate
        raise KeyError(f"no rate of kind {kind} within {asked} continuations")

    @property
    def privacy(self) -> float:
        """What is to be low: values extracted approximately, or habits on display."""
        found = self.extraction()
        if found is not None:
            return found
        if self.displayed is None:
            raise ValueError(
                f"{self.masking}, {self.action}, seed {self.seed}: neither values nor habits were measured"
            )
        return self.displayed.mean


def extracted_of(result: ExtractionResult) -> tuple[Extracted, ...]:
    """Keep the rates of an attack."""
    return tuple(
        Extracted(
            kind=rate.kind,
            budget=rate.budget,
            values=rate.exact.of,
            approximate=rate.approximate.value or 0.0,
            exact=rate.exact.value or 0.0,
        )
        for rate in result.rates
        if rate.exact.of
    )


def useful_of(gold: GoldResult, passing: Passing, *, left_out: int) -> Useful:
    """Keep the figures of utility; ``left_out`` gold answers were too long for the model."""
    passed = {rate.k: rate.first.value for rate in passing.rates if rate.first.value is not None}
    endings = {str(end): n for end, n in passing.endings.items()}
    return Useful(gold_nll=gold.mean_nll, gold_left_out=left_out, passed=passed, endings=endings)


def displayed_of(display: Display) -> Displayed:
    """Keep the rates of habits."""
    if display.mean is None:
        raise ValueError("no habit has a prompt where it can show: the corpus has no display tasks")
    return Displayed(
        mean=display.mean,
        quirks={quirk: rate.value for quirk, rate in display.quirks.items() if rate.value is not None},
        answers=display.answers,
        unparsable=display.unparsable,
    )
