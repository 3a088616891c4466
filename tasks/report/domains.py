"""Domains and subcategories of a set beside PV Table 1."""

from dataclasses import dataclass

from tasks.report.figures import Summary, share
from tasks.synthesis.taxonomy import DOMAINS


@dataclass(frozen=True, slots=True)
class Category:
    """A domain or a subcategory: our records, their share, and the paper's share where Table 1 names it."""

    name: str
    records: int
    share: float | None
    paper: float | None
    subcategories: tuple["Category", ...] = ()


def categories(summary: Summary) -> tuple[Category, ...]:
    """Return Table 1's domains in its order, then those that only the set has; the same within each domain."""
    theirs = {domain.name: domain for domain in DOMAINS}
    return tuple(
        Category(
            name,
            summary.domains.get(name, 0),
            share(summary.domains.get(name, 0), summary.records),
            theirs[name].percent / 100 if name in theirs else None,
            _subcategories(name, summary),
        )
        for name in dict.fromkeys([*theirs, *summary.domains])
    )


def _subcategories(domain: str, summary: Summary) -> tuple[Category, ...]:
    theirs = {sub.name: sub.percent for row in DOMAINS if row.name == domain for sub in row.subcategories}
    ours = {name: n for (of, name), n in summary.subcategories.items() if of == domain}
    return tuple(
        Category(
            name,
            ours.get(name, 0),
            share(ours.get(name, 0), summary.records),
            None if (percent := theirs.get(name)) is None else percent / 100,
        )
        for name in dict.fromkeys([*theirs, *ours])
    )
