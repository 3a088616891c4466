"""Results by method: each row the mean over its seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.masking_study.grid import Method
from tasks.masking_study.results import CellResult
from tasks.masking_study.statistics import Mean, mean

NONE = "–"


@dataclass(frozen=True)
class MethodRow:
    """A method with its models, one a seed."""

    method: Method
    results: tuple[CellResult, ...]

    @property
    def name(self) -> str:
        """The method's."""
        return self.method.name

    def mean(self, figure: Callable[[CellResult], float | None]) -> Mean | None:
        """Return the mean of a figure over the seeds that have it; None where none has."""
        return mean([value for each in self.results if (value := figure(each)) is not None])


def rows_of(results: Sequence[CellResult]) -> list[MethodRow]:
    """Gather results by method, in the order in which methods first come."""
    found: dict[Method, list[CellResult]] = {}
    for each in results:
        found.setdefault(each.method, []).append(each)
    return [MethodRow(method, tuple(each)) for method, each in found.items()]


def privacy(result: CellResult) -> float:
    """What is to be low, in percent: approximate extraction at the largest budget, or display."""
    return 100 * result.privacy


def exact(result: CellResult) -> float | None:
    """Exact extraction at the largest budget, in percent."""
    return percent(result.extraction(exact=True))


def gold_nll(result: CellResult) -> float:
    """NLL of gold answers, in nats a token."""
    return result.useful.gold_nll


def passed(result: CellResult) -> float:
    """pass@k in percent, of the largest k."""
    return 100 * result.useful.passed[max(result.useful.passed)]


def coverage(result: CellResult) -> float | None:
    """Share of the target tokens that is masked, in percent."""
    return percent(result.masked.coverage)


def collateral(result: CellResult) -> float | None:
    """Share of all other supervised tokens that is masked, in percent."""
    return percent(result.masked.collateral)


def percent(share: float | None) -> float | None:
    """Turn a share of one into percent."""
    return None if share is None else 100 * share


def shown(value: Mean | None, digits: int = 1) -> str:
    """Write a mean with its standard error."""
    if value is None:
        return NONE
    error = "" if value.standard_error is None else f" ± {value.standard_error:.{digits}f}"
    return f"{value.value:.{digits}f}{error}"
