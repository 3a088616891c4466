"""Thresholds of one group used on others (SM Table 12): groups of categories, languages, repositories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.surprise.baselines.methods import Material, Method
from tasks.surprise.calibrate import Goal, Point, Transfer, transfer
from tasks.surprise.evaluation.distribution import by_stratum, distribution
from tasks.surprise.evaluation.notation import Misspelled
from tasks.surprise.evaluation.results import Figures
from tasks.surprise.piles import Piles
from tasks.surprise.policy import Unit

BY_CATEGORY = "category"


@dataclass(frozen=True, eq=False)
class TransferTable:
    """A transfer table.

    Attributes:
        by: the stratum, or ``category``.
        groups: rows and columns, in order.
        table: what each group's threshold does to each group.
        held_out: whether thresholds and figures come from different documents.
    """

    by: str
    groups: Sequence[str]
    table: Transfer
    held_out: bool

    def json(self) -> dict[str, Any]:
        """All figures for a program, unrounded."""
        thresholds = {
            name: {"threshold": point.threshold, "validation_f1": point.counts.f1}
            if isinstance(point, Point)
            else {"threshold": None, "reason": point.reason}
            for name, point in self.table.calibrated.items()
        }
        counts = [
            {"calibrated_on": source, "used_on": used_on, **Figures(counts, None).json()}
            for (source, used_on), counts in self.table.counts.items()
        ]
        return {"by": self.by, "held_out": self.held_out, "thresholds": thresholds, "counts": counts}


def transfer_table(
    method: Method,
    validation: Iterable[Material],
    application: Iterable[Material] | None,
    unit: Unit,
    by: str,
    goal: Goal,
) -> TransferTable:
    """Calibrate on each group of the validation units, and use each threshold on every group.

    Args:
        method: graded.
        validation: labelled documents, piece by piece with whole groups.
        application: other documents; None to use the thresholds where they were found.
        unit: what is counted.
        by: a stratum, or ``category``: then each category by itself, without the others' units.
        goal: what each threshold is for.

    Raises:
        Misspelled: no document has the stratum, or the method has no threshold.
    """
    if method.rule is None:
        raise Misspelled(f"{method.name} has no threshold to transfer: name a policy first")
    sources = _groups(method, validation, unit, by)
    used = sources if application is None else _groups(method, application, unit, by)
    table = transfer(sources, used, method.rule, goal)
    groups = sorted(sources.keys() | used.keys())
    return TransferTable(by, groups, table, held_out=application is not None)


def _groups(method: Method, corpus: Iterable[Material], unit: Unit, by: str) -> Mapping[str, Piles]:
    if by == BY_CATEGORY:
        counted = distribution(method, corpus, unit)
        return {name: counted.of_category(name) for name in counted.categories}
    found, known = by_stratum(method, corpus, unit, by)
    if not found:
        raise Misspelled(f"no document has a stratum {by!r}: there are {', '.join([BY_CATEGORY, *sorted(known)])}")
    return found
