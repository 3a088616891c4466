"""What a chain ends in: a record, or a reject with its reason. Rows of ``tasks.records``."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from infra.llm.types import Usage
from tasks.ask import StepSpent
from tasks.records import RECORDS, REJECTS
from tasks.synthesis.attributes import Attribute, Group
from tasks.synthesis.profile import Event, Profile
from tasks.synthesis.record import Plan
from tasks.synthesis.refine import Refinement

Outcome = Literal["filtered", "quarantined"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Which member of the run's population this is, and who writes it."""

    record_id: str
    index: int
    seed: int
    model: str
    language: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What the model answered for one chain, repairs and replayed events included."""

    steps: Mapping[str, StepSpent]
    cost_usd: float

    @property
    def calls(self) -> int:
        """Model calls answered."""
        return sum(step.calls for step in self.steps.values())

    @property
    def tokens(self) -> Usage:
        """Tokens of all calls."""
        return sum((step.usage for step in self.steps.values()), Usage())


@dataclass(frozen=True, slots=True)
class Record:
    """A finished record."""

    identity: Identity
    profile: Profile
    event: Event
    plan: Plan
    text: str
    words: int
    label: tuple[str, str] | None
    attributes: tuple[Attribute, ...]
    groups: tuple[Group, ...]
    refinement: tuple[Refinement, ...]
    embedding: npt.NDArray[np.float32]
    spent: Spent
    prompt_shas: Mapping[str, str]

    def row(self) -> dict[str, Any]:
        """Return the row of ``RECORDS``."""
        domain, subcategory = self.label or (None, None)
        return {
            **asdict(self.identity),
            "profile": asdict(self.profile),
            "event": asdict(self.event)
            | {"attributes": [{"key": key, "value": value} for key, value in self.event.attributes]},
            "record_type": self.plan.record_type,
            "context": self.plan.context,
            "format": self.plan.format,
            "text": self.text,
            "domain": domain,
            "subcategory": subcategory,
            "attributes": [_attribute(attribute) for attribute in self.attributes],
            "groups": [asdict(group) for group in self.groups],
            "refinement": [asdict(step) for step in self.refinement],
            "embedding": self.embedding,
            "words": self.words,
            **_spent(self.spent),
            "prompt_shas": [{"prompt": prompt, "sha": sha} for prompt, sha in self.prompt_shas.items()],
        }


@dataclass(frozen=True, slots=True)
class Reject:
    """A member of the population that did not become a record, and why."""

    identity: Identity
    outcome: Outcome
    step: str
    reason: str
    detail: str
    last_reply: str | None
    spent: Spent

    def row(self) -> dict[str, Any]:
        """Return the row of ``REJECTS``."""
        return {
            **asdict(self.identity),
            "outcome": self.outcome,
            "step": self.step,
            "reason": self.reason,
            "detail": self.detail,
            "last_reply": self.last_reply,
            **_spent(self.spent),
        }


def _attribute(attribute: Attribute) -> dict[str, Any]:
    return {
        "key": attribute.key,
        "value": attribute.value,
        "source": attribute.source,
        "grounded": attribute.grounded,
        "spans": [{"start": start, "end": end} for start, end in attribute.spans],
    }


def _spent(spent: Spent) -> dict[str, Any]:
    return {"calls": spent.calls, "tokens": asdict(spent.tokens), "cost_usd": spent.cost_usd}


def tables(outcomes: Iterable[Record | Reject]) -> dict[str, pa.Table]:
    """Sort outcomes into the two tables of a shard, by position in the population."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.identity.index)
    return {
        "records": pa.Table.from_pylist([each.row() for each in ordered if isinstance(each, Record)], RECORDS),
        "rejects": pa.Table.from_pylist([each.row() for each in ordered if isinstance(each, Reject)], REJECTS),
    }
