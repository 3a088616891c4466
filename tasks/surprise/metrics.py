"""Recall, collateral and F1 over characters, lines, tokens or whole completions, counts pooled (SM B.4)."""

from pydantic import BaseModel, ConfigDict, Field


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
