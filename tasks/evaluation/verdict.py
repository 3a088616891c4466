"""What the rows of an evaluation say of whole records: full success, failure, or not judged."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tasks.evaluation.leaks import LEAKS
from tasks.evaluation.retention import KEPT

_UNKNOWN = "unjudged"


def full_success(row: Mapping[str, Any]) -> bool | None:
    """Tell whether nothing that was to go leaks and all that was to stay is there (PV section 4.2).

    Args:
        row: of ``tasks.records.EVALUATIONS``.

    Returns:
        None where no fact has failed but some are unjudged: whether the record succeeded is not known.
    """
    targets = [each["outcome"] for each in row["targets"]]
    retained = [each["outcome"] for each in row["retained"]]
    if any(outcome not in ("safe", _UNKNOWN) for outcome in targets):
        return False
    if any(outcome not in (*KEPT, _UNKNOWN) for outcome in retained):
        return False
    return None if _UNKNOWN in (*targets, *retained) else True


def full_successes(evaluations: pa.Table) -> dict[str, bool | None]:
    """Return record id -> full success of every row of ``tasks.records.EVALUATIONS``."""
    rows = evaluations.select(["record_id", "targets", "retained"]).to_pylist()
    return {row["record_id"]: full_success(row) for row in rows}


def leaks(row: Mapping[str, Any]) -> bool:
    """Tell whether any target of an evaluated record leaks."""
    return any(each["outcome"] in LEAKS for each in row["targets"])
