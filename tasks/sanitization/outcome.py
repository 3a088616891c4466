"""What the sanitization of a record ends in: a triplet, or a reject with its reason. Rows of ``tasks.records``."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from tasks.diversity.words import count_words
from tasks.records import REJECTS, TRIPLETS
from tasks.sanitization.chunks import Chunk
from tasks.sanitization.instruction import FinalRequest
from tasks.sanitization.rewrite import Work
from tasks.sanitization.targets import Target
from tasks.sanitization.verify import TargetLeak
from tasks.synthesis.attributes import Attribute
from tasks.synthesis.outcome import Identity, Reject, Spent


@dataclass(frozen=True, slots=True)
class Retained:
    """An attribute that the request asks to keep, and how alike it is to the targets (ROUGE-L F1, 0 to 1)."""

    attribute: Attribute
    overlap: float


@dataclass(frozen=True, slots=True)
class Triplet:
    """A sanitized record.

    Attributes:
        chunks: of the text, before.
        sanitized: the text of each chunk, after.
        targets: in the order of work.
        passes: of each target.
        members_named: of each target, whether the request names a group's members.
        leaks: what still stands in the sanitized text of the targets.
    """

    identity: Identity
    text: str
    chunks: tuple[Chunk, ...]
    sanitized: tuple[str, ...]
    targets: tuple[Target, ...]
    passes: tuple[tuple[Work, ...], ...]
    members_named: tuple[bool, ...]
    retained: tuple[Retained, ...]
    request: FinalRequest
    leaks: tuple[TargetLeak, ...]
    spent: Spent
    prompt_shas: Mapping[str, str]

    def row(self) -> dict[str, Any]:
        """Return the row of ``TRIPLETS``."""
        sanitized = "".join(self.sanitized)
        return {
            **asdict(self.identity),
            "text": self.text,
            "instruction": self.request.text,
            "sanitized": sanitized,
            "verified": not self.leaks,
            "targets": [
                _target(target, passes, named)
                for target, passes, named in zip(self.targets, self.passes, self.members_named, strict=True)
            ],
            "retained": [
                {"key": kept.attribute.key, "value": kept.attribute.value, "overlap": kept.overlap}
                for kept in self.retained
            ],
            "leaks": [{"target": found.target, **asdict(found.leak)} for found in self.leaks],
            "chunks": [
                {"start": chunk.start, "stop": chunk.stop, "sanitized": after}
                for chunk, after in zip(self.chunks, self.sanitized, strict=True)
            ],
            "asked_length": self.request.length,
            "words": count_words(self.text),
            "instruction_words": count_words(self.request.text),
            "sanitized_words": count_words(sanitized),
            "retries": sum(step.calls - 1 for step in self.spent.steps.values()),
            "calls": self.spent.calls,
            "tokens": asdict(self.spent.tokens),
            "cost_usd": self.spent.cost_usd,
            "prompt_shas": [{"prompt": prompt, "sha": sha} for prompt, sha in self.prompt_shas.items()],
        }


def _target(target: Target, passes: tuple[Work, ...], members_named: bool) -> dict[str, Any]:
    return {
        "name": target.name,
        "is_group": target.is_group,
        "label": target.label,
        "weight": target.weight,
        "attributes": [{"key": each.key, "value": each.value} for each in target.attributes],
        "members_named": members_named,
        "passes": [
            {"instruction": work.instruction, "edits": [asdict(edit) for edit in work.edits]} for work in passes
        ],
    }


def tables(outcomes: Iterable[Triplet | Reject]) -> dict[str, pa.Table]:
    """Sort outcomes into the two tables of a shard, in the order of their records."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.identity.index)
    return {
        "triplets": pa.Table.from_pylist([each.row() for each in ordered if isinstance(each, Triplet)], TRIPLETS),
        "triplet_rejects": pa.Table.from_pylist([each.row() for each in ordered if isinstance(each, Reject)], REJECTS),
    }
