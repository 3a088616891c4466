"""Recall, collateral and F1 over characters, lines, tokens or whole completions, counts pooled (SM B.4)."""

from collections.abc import Mapping

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tasks.surprise.rows import I64, Bool, check_sizes


class Counts(BaseModel):
    """How many units are targets or not, and masked or not. Adding counts pools them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    true_positives: int = Field(ge=0, description="targets that are masked")
    false_positives: int = Field(ge=0, description="other units that are masked: the collateral")
    false_negatives: int = Field(ge=0, description="targets left unmasked")
    true_negatives: int = Field(ge=0, description="other units left unmasked")

    def __add__(self, other: "Counts") -> "Counts":
        """Pool two sets of units."""
        return Counts(
            true_positives=self.true_positives + other.true_positives,
            false_positives=self.false_positives + other.false_positives,
            false_negatives=self.false_negatives + other.false_negatives,
            true_negatives=self.true_negatives + other.true_negatives,
        )

    @property
    def targets(self) -> int:
        """TP + FN."""
        return self.true_positives + self.false_negatives

    @property
    def others(self) -> int:
        """FP + TN."""
        return self.false_positives + self.true_negatives

    @property
    def masked_share(self) -> float | None:
        """(TP + FP) / all, the budget; None of no units."""
        return _share(self.true_positives + self.false_positives, self.targets + self.others)

    @property
    def tpr(self) -> float | None:
        """Target recall TP / (TP + FN); None without targets."""
        return _share(self.true_positives, self.targets)

    @property
    def fpr(self) -> float | None:
        """Collateral FP / (FP + TN); None without other units."""
        return _share(self.false_positives, self.others)

    @property
    def precision(self) -> float | None:
        """TP / (TP + FP); None where nothing is masked."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN); None where nothing is masked and nothing a target."""
        return _share(2 * self.true_positives, 2 * self.true_positives + self.false_positives + self.false_negatives)

    @property
    def mask_everything_f1(self) -> float | None:
        """F1 of masking every unit, 2p / (1 + p) at a share p of targets: what any method must beat."""
        return _share(2 * self.targets, 2 * self.targets + self.others)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def count(masked: Bool, target: Bool) -> Counts:
    """Count units.

    Args:
        masked: shape (U,).
        target: of the same units.

    Raises:
        ValueError: the sizes differ.
    """
    check_sizes("targets", target.size, {"masked": masked.size})
    both = int(np.count_nonzero(masked & target))
    masked_units, targets = int(np.count_nonzero(masked)), int(np.count_nonzero(target))
    return Counts(
        true_positives=both,
        false_positives=masked_units - both,
        false_negatives=targets - both,
        true_negatives=masked.size - masked_units - targets + both,
    )


def count_by_category(masked: Bool, categories: Mapping[str, Bool], documents: I64 | None = None) -> dict[str, Counts]:
    """Count each category of targets by itself.

    Units of another category alone are left out, not counted as others; units of no category are the others. With
    ``documents``, a category's others come only from documents that hold it (SM A.4; without, from all: SM F.2).

    Args:
        masked: shape (U,).
        categories: for each category the units that belong to it, shape (U,) each; a unit may belong to several.
        documents: the document of each unit, shape (U,).

    Raises:
        ValueError: the sizes differ.
    """
    check_sizes("units", masked.size, {f"category {name}": target.size for name, target in categories.items()})
    if documents is not None:
        check_sizes("units", masked.size, {"documents": documents.size})
    labelled = np.zeros(masked.size, dtype=np.bool_)
    for target in categories.values():
        labelled |= target
    counts = {}
    for name, target in categories.items():
        counted = target | ~labelled
        if documents is not None:
            counted &= np.isin(documents, documents[target])
        counts[name] = count(masked[counted], target[counted])
    return counts
