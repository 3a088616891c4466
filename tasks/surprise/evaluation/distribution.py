"""What a method's figures are taken from: units by level, overall and by category, pooled over pieces of a data set.

A data set is a *corpus*: materials, each with whole groups, that can be gone through again. One of them is in memory
at a time. What stays of it is, at most, three numbers for each different level of its units.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tasks.surprise.baselines.methods import Material, Method
from tasks.surprise.evaluation.counting import Tally, tally
from tasks.surprise.piles import Piles
from tasks.surprise.policy import Unit
from tasks.surprise.rows import F64, I64, Bool


@dataclass(frozen=True, eq=False)
class Distribution:
    """The units of a method by level.

    Attributes:
        overall: all units.
        categories: targets of each category, and, where ``in_documents``, the others of documents that hold it.
        in_documents: a category's others come from documents that hold it alone (SM A.4), not from all (SM F.2).
    """

    overall: Piles
    categories: Mapping[str, Piles]
    in_documents: bool = False

    @classmethod
    def of(cls, counted: Tally, *, in_documents: bool = False) -> Self:
        """Count the units of one piece."""
        units, labelled = counted.units, np.zeros(counted.documents.size, dtype=np.bool_)
        for target in counted.categories.values():
            labelled |= target
        categories = {}
        for name, target in counted.categories.items():
            kept = target.copy()
            if in_documents:
                kept |= ~labelled & np.isin(counted.documents, counted.documents[target])
            categories[name] = Piles.of(units.levels[kept], target[kept])
        return cls(units.piles(), categories, in_documents)

    @classmethod
    def joined(cls, parts: Sequence["Distribution"], *, in_documents: bool = False) -> Self:
        """Pool the units of several pieces."""
        names = sorted({name for part in parts for name in part.categories})
        return cls(
            Piles.joined(part.overall for part in parts),
            {name: Piles.joined(part.categories[name] for part in parts if name in part.categories) for name in names},
            in_documents,
        )

    def of_category(self, name: str) -> Piles:
        """Units of one category and those of none: other categories' targets are left out, not counted as others."""
        found = self.categories[name]
        return found if self.in_documents else Piles.joined([found, self.overall.without_targets()])

    def aurocs(self) -> dict[str, float | None]:
        """AUROC of each category by itself, as of ``of_category``; None where it has no targets or nothing else."""
        everywhere = self.overall.without_targets()
        return {
            name: _auroc(found.levels, found.targets, *_others(found if self.in_documents else everywhere))
            for name, found in self.categories.items()
        }


def distribution(method: Method, corpus: Iterable[Material], unit: Unit, *, in_documents: bool = False) -> Distribution:
    """Count a method's units piece by piece.

    Raises:
        ValueError: a piece lacks what the method looks at.
    """
    parts = [
        Distribution.of(tally(material, method.levels(material), unit), in_documents=in_documents)
        for material in corpus
    ]
    return Distribution.joined(parts, in_documents=in_documents)


def by_stratum(method: Method, corpus: Iterable[Material], unit: Unit, name: str) -> tuple[dict[str, Piles], set[str]]:
    """Count the units of the documents of each value of a stratum; documents without one are in none.

    Returns:
        The units of each value, and the names of all strata that there are.
    """
    parts: dict[str, list[Piles]] = {}
    known: set[str] = set()
    for material in corpus:
        known |= {each for document in material.documents for each in document.strata}
        counted = tally(material, method.levels(material), unit)
        values = [document.strata.get(name) for document in material.documents]
        for value in sorted({value for value in values if value is not None}):
            rows: Bool = np.array([each == value for each in values], dtype=np.bool_)
            parts.setdefault(value, []).append(counted.units.only(rows[counted.documents]).piles())
    return {value: Piles.joined(found) for value, found in sorted(parts.items())}, known


def _others(piles: Piles) -> tuple[F64, I64]:
    return piles.levels, piles.others


def _auroc(levels: F64, targets: I64, below: F64, others: I64) -> float | None:
    """Share of pairs (target, other) in which the target is higher, ties one half; both levels rise."""
    if not (targets.sum() and others.sum()):
        return None
    held = np.append(0, np.cumsum(others))
    lower, not_above = (held[np.searchsorted(below, levels, side=side)] for side in ("left", "right"))
    return int((targets * (lower + not_above)).sum()) / (2 * int(targets.sum()) * int(others.sum()))
