"""Which rejected rows are asked again, and how rows of before and after make one table."""

from collections.abc import Collection, Mapping
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field

Outcome = Literal["quarantined", "filtered"]


class NotCurrent(Exception):
    """A shard was made by other settings or of other rows than now: it has to be made again before rows of it are."""


class NothingToAsk(Exception):
    """None of a shard's rejected rows is to be asked again: they were, since the retry was planned."""


class Wanted(BaseModel):
    """Which rejects are meant; an empty list means all.

    Attributes:
        outcomes: a filtered row was no record of anybody: asked again, it may become one.
        reasons: names of reasons.
        steps: names of steps, or what stands before their dash (`spans` for `spans-2`).
        ids: of records.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcomes: tuple[Outcome, ...] = Field(default=("quarantined",), min_length=1)
    reasons: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def takes(self, reject: Mapping[str, Any]) -> bool:
        """Tell whether a row of ``REJECTS`` is meant."""
        step = str(reject["step"])
        return (
            reject["outcome"] in self.outcomes
            and (not self.reasons or reject["reason"] in self.reasons)
            and (not self.steps or step in self.steps or step.partition("-")[0] in self.steps)
            and (not self.ids or reject["record_id"] in self.ids)
        )


def could_differ(reject: Mapping[str, Any]) -> bool:
    """Tell whether asking again could end otherwise: not where it was decided before anybody was asked."""
    return bool(reject["calls"]) or reject["reason"] == "request_rejected"


def replaced(before: pa.Table, after: pa.Table, ids: Collection[str]) -> pa.Table:
    """Return the rows of ``before`` without those of ``ids``, and the rows of ``after``, in the order of ``index``."""
    stays = pc.invert(pc.is_in(before["record_id"], pa.array(sorted(ids), pa.string())))
    return pa.concat_tables([before.filter(stays), after]).sort_by("index").combine_chunks()
