"""Thresholds of one group used on others (SM Table 12): groups of categories, languages, repositories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.surprise.calibrate import Goal, Point, Transfer, transfer
from tasks.surprise.documents import Document
from tasks.surprise.evaluation.counting import Tally
from tasks.surprise.evaluation.results import Figures
from tasks.surprise.evaluation.subsets import strata
from tasks.surprise.rules import Rule
from tasks.surprise.units import Units

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
    validation: Tally,
    validation_documents: Sequence[Document],
    application: Tally | None,
    application_documents: Sequence[Document],
    by: str,
    rule: Rule,
    goal: Goal,
) -> TransferTable:
    """Calibrate on each group of the validation units, and use each threshold on every group.

    Args:
        validation: units with levels.
        validation_documents: the documents they are of.
        application: units of other documents; None to use the thresholds where they were found.
        application_documents: the documents of those.
        by: a stratum, or ``category``: then each category by itself, without the others' units.
        rule: of the levels.
        goal: what each threshold is for.

    Raises:
        Misspelled: no document has the stratum.
    """
    sources = _groups(validation, validation_documents, by)
    used = sources if application is None else _groups(application, application_documents, by)
    table = transfer(sources, used, rule, goal)
    groups = sorted(sources.keys() | used.keys())
    return TransferTable(by, groups, table, held_out=application is not None)


def _groups(counted: Tally, documents: Sequence[Document], by: str) -> Mapping[str, Units]:
    if by == BY_CATEGORY:
        return {name: counted.only_category(name) for name in counted.categories}
    return {value: counted.units.only(rows[counted.documents]) for value, rows in strata(documents, by).items()}
