"""How far reviewers agree: as it is, and beyond what chance would give. Missing judgements are allowed everywhere.

Where nearly all say yes, chance alone agrees nearly always, and kappa and alpha fall near 0 though hardly anybody
differs: read them beside the raw share.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Of two reviewers on the texts that both judged; None where it is not defined."""

    first: str
    second: str
    texts: int
    raw: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of all reviewers on one question.

    Attributes:
        texts: judged by two reviewers at least.
        raw: share of pairs of judgements of one text that say the same, each text counting by its judgements.
        alpha: Krippendorff's, nominal.
        pairs: each two reviewers.
    """

    texts: int
    raw: float | None
    alpha: float | None
    pairs: tuple[PairAgreement, ...]


def agreement(said: Mapping[str, Mapping[str, T]]) -> Agreement:
    """Return how far reviewers agree.

    Args:
        said: reviewer -> text -> answer; pairs are in this order.
    """
    units: dict[str, list[T]] = {}
    for answers in said.values():
        for text, answer in answers.items():
            units.setdefault(text, []).append(answer)
    shared = [unit for unit in units.values() if len(unit) > 1]
    observed = observed_disagreement(shared)
    return Agreement(
        texts=len(shared),
        raw=None if observed is None else 1 - observed,
        alpha=krippendorff_alpha(shared),
        pairs=tuple(_pair(first, second, said) for first, second in combinations(said, 2)),
    )


def observed_disagreement(units: Iterable[Sequence[T]]) -> float | None:
    """Return the share of pairs within units that differ; a unit of m values counts as m.

        D_o = 1/n  sum over units  (pairs of it that differ, ordered) / (m - 1)

    None where no unit has two values.
    """
    differing, values = 0.0, 0
    for unit in units:
        if len(unit) > 1:
            same = sum(count * (count - 1) for count in Counter(unit).values())
            differing += (len(unit) * (len(unit) - 1) - same) / (len(unit) - 1)
            values += len(unit)
    return differing / values if values else None


def krippendorff_alpha(units: Iterable[Sequence[T]]) -> float | None:
    """Return Krippendorff's alpha for nominal values (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability").

        alpha = 1 - D_o / D_e,   D_e = share of pairs of different values among all values in units of two or more

    None where it is not defined: nobody shares a unit, or all values are the same.
    """
    shared = [unit for unit in units if len(unit) > 1]
    observed = observed_disagreement(shared)
    counts = Counter(value for unit in shared for value in unit)
    total = sum(counts.values())
    differing = total * (total - 1) - sum(count * (count - 1) for count in counts.values())
    if observed is None or not differing:
        return None
    return 1 - observed * total * (total - 1) / differing


def cohen_kappa(pairs: Sequence[tuple[T, T]]) -> float | None:
    """Return Cohen's kappa of two reviewers' answers to the same texts (Cohen 1960).

        kappa = (p_o - p_e) / (1 - p_e),   p_e = sum over values of the product of both reviewers' shares

    None where it is not defined: no texts, or both gave one and the same answer throughout.
    """
    if not pairs:
        return None
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    agreed = sum(first == second for first, second in pairs)
    by_chance = sum(count * seconds[value] for value, count in firsts.items())  # times the number of texts
    texts = len(pairs)
    if by_chance == texts * texts:
        return None
    return (agreed * texts - by_chance) / (texts * texts - by_chance)


def _pair(first: str, second: str, said: Mapping[str, Mapping[str, T]]) -> PairAgreement:
    ours, theirs = said[first], said[second]
    pairs = [(answer, theirs[text]) for text, answer in ours.items() if text in theirs]
    raw = sum(one == other for one, other in pairs) / len(pairs) if pairs else None
    return PairAgreement(first, second, len(pairs), raw, cohen_kappa(pairs))
