"""How much of what is private a mask covers, and how much else it takes, on the data that is trained on (SM C.1)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tasks.surprise.rows import Bool, row_numbers
from tasks.surprise.spans import Spans, overlaps
from tasks.training.masked.ground import Ground


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts of tokens of the trained model.

    Attributes:
        supervised: tokens that may carry loss, of documents that somebody looked at for private spans.
        targets: of them, those that share a character with a private span.
        masked: of ``supervised``, those that are selected.
        masked_targets: of ``targets``, those that are selected.
        documents: all of them.
        touched_documents: those with a selected token: what the action `filter` leaves out.
        by_category: targets and selected targets by category of the private span.
    """

    supervised: int
    targets: int
    masked: int
    masked_targets: int
    documents: int
    touched_documents: int
    by_category: Mapping[str, tuple[int, int]]

    @property
    def of_targets(self) -> float | None:
        """Share of the targets that are selected; None where there are none."""
        return self.masked_targets / self.targets if self.targets else None

    @property
    def collateral(self) -> float | None:
        """Share of all other supervised tokens that are selected; None where there are none."""
        others = self.supervised - self.targets
        return (self.masked - self.masked_targets) / others if others else None

    def __add__(self, other: "Coverage") -> "Coverage":
        """Count over the documents of both."""
        names = sorted({*self.by_category, *other.by_category})
        pairs = {name: (self.by_category.get(name, (0, 0)), other.by_category.get(name, (0, 0))) for name in names}
        return Coverage(
            supervised=self.supervised + other.supervised,
            targets=self.targets + other.targets,
            masked=self.masked + other.masked,
            masked_targets=self.masked_targets + other.masked_targets,
            documents=self.documents + other.documents,
            touched_documents=self.touched_documents + other.touched_documents,
            by_category={name: (ours[0] + theirs[0], ours[1] + theirs[1]) for name, (ours, theirs) in pairs.items()},
        )

    def figures(self) -> dict[str, Any]:
        """Counts and shares, as they are stored."""
        categories = {name: list(counts) for name, counts in self.by_category.items()}
        return asdict(self) | {
            "by_category": categories,
            "coverage": self.of_targets,
            "collateral": self.collateral,
        }


def coverage(mask: Bool, ground: Ground) -> Coverage:
    """Count what a mask covers.

    Args:
        mask: shape (N,).
        ground: of N tokens.
    """
    rows = row_numbers(ground.tokens.row_offsets)
    labelled = np.array([document.labelled for document in ground.documents], dtype=np.bool_)
    judged = ground.supervised & labelled[rows]
    targets = ground.targets & judged
    categories = sorted({label.category for document in ground.documents for label in document.labels})
    return Coverage(
        supervised=int(judged.sum()),
        targets=int(targets.sum()),
        masked=int((mask & judged).sum()),
        masked_targets=int((mask & targets).sum()),
        documents=len(ground.documents),
        touched_documents=int(np.unique(rows[mask]).size),
        by_category={name: _of_category(name, mask, judged, ground) for name in categories},
    )


def _of_category(name: str, mask: Bool, judged: Bool, ground: Ground) -> tuple[int, int]:
    spans = Spans.of(
        [(label.start, label.end) for label in document.labels if label.category == name]
        for document in ground.documents
    )
    targets = overlaps(ground.tokens.spans, spans) & judged
    return int(targets.sum()), int((targets & mask).sum())
