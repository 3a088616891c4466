"""The figures of an evaluation: PV Tables 4, 5, 6 and 10, with what could not be judged beside them."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.evaluation.bootstrap import F64, Rate, rates
from tasks.evaluation.leaks import LEAKS
from tasks.evaluation.retention import KEPT
from tasks.evaluation.verdict import full_success, leaks

TOP = 8  # rows of Tables 6 and 10
NO_DOMAIN = "not labelled"

_NUMBER = re.compile(r"_\d+$")  # of a key that several facts of a record share

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table4:
    """The seven figures of PV Table 4.

    Attributes:
        attribute: of all attributes that were to go, those that do not leak.
        attribute_per_record: the same within a record, mean over records.
        record: of all records, those where nothing leaks.
        kept_attribute, kept_per_record, kept_record: the three for what was to stay, over records that ask to keep
            anything.
        full_record: of all records, those where nothing leaks and all is kept.
    """

    attribute: Rate
    attribute_per_record: Rate
    record: Rate
    kept_attribute: Rate
    kept_per_record: Rate
    kept_record: Rate
    full_record: Rate


@dataclass(frozen=True, slots=True)
class Share:
    """Something counted, and its share of all that were counted, as a fraction of one.

    Attributes:
        low, high: the 95 % interval around the share; None where nothing was counted, and of the paper's.
    """

    name: str
    count: int
    share: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two evaluators say the same of the same two guesses: both a leak, or both none."""

    pairs: int
    agreed: int

    @property
    def share(self) -> float | None:
        """As a fraction of one."""
        return self.agreed / self.pairs if self.pairs else None


@dataclass(frozen=True, slots=True)
class Scores:
    """All figures of one set of records.

    Attributes:
        table4: over all attributes. What is unjudged, or has no output, is neither a leak nor a success.
        without_short: the same without values of one or two characters.
        short: attributes with such values.
        leak_types: PV Table 5: direct, inference and proximity among the leaks.
        domains: PV Table 6: the categories of the records with a leak.
        keys: PV Table 10: the keys of the attributes that leak.
        unjudged: facts that the evaluator could not be brought to judge.
        undecided_records: those where this alone keeps a full success from being known.
        no_output: records for which the sanitizer gave nothing, by reason.
        retention: facts that were to stay, by outcome.
        agreement: with a second evaluator, where one was asked.
    """

    records: int
    attributes: int
    table4: Table4
    without_short: Table4
    short: int
    leak_types: tuple[Share, ...]
    domains: tuple[Share, ...]
    keys: tuple[Share, ...]
    unjudged: int
    undecided_records: int
    no_output: Mapping[str, int]
    retention: Mapping[str, int]
    agreement: Agreement | None


def score(rows: Sequence[Row], seed: int = 0) -> Scores:
    """Work out the figures of ``rows`` of ``tasks.records.EVALUATIONS``; ``seed`` is that of the intervals."""
    facts = [each for row in rows for each in (*row["targets"], *row["retained"])]
    leaked = [[each for each in row["targets"] if each["outcome"] in LEAKS] for row in rows]
    return Scores(
        records=len(rows),
        attributes=sum(len(row["targets"]) for row in rows),
        table4=table4(rows, seed),
        without_short=table4(rows, seed, counts=lambda fact: not fact["short"]),
        short=sum(fact["short"] for fact in facts),
        leak_types=shares([Counter(each["outcome"] for each in some) for some in leaked], seed, LEAKS),
        domains=shares([Counter([row["domain"] or NO_DOMAIN] if leaks(row) else []) for row in rows], seed),
        keys=shares([Counter(_NUMBER.sub("", each["key"]) for each in some) for some in leaked], seed),
        unjudged=sum(fact["outcome"] == "unjudged" for fact in facts),
        undecided_records=sum(full_success(row) is None for row in rows),
        no_output=dict(Counter(row["failure"] for row in rows if row["failure"] is not None)),
        retention=dict(Counter(each["outcome"] for row in rows for each in row["retained"])),
        agreement=agreement(rows),
    )


def table4(rows: Sequence[Row], seed: int, *, counts: Callable[[Row], bool] = lambda fact: True) -> Table4:
    """Return PV Table 4's figures over the facts that ``counts`` lets count.

    A record without any that were to go takes no part.
    """
    pairs_NK2 = np.array([_pairs(row, counts) for row in rows], dtype=np.float64).reshape(len(rows), 7, 2)
    numerators_NK: F64 = pairs_NK2[:, :, 0]
    denominators_NK: F64 = pairs_NK2[:, :, 1]
    return Table4(*rates(numerators_NK, denominators_NK, seed))


def _pairs(row: Row, counts: Callable[[Row], bool]) -> list[tuple[float, float]]:
    """Return what a record adds to the numerator and the denominator of each figure."""
    targets = [each["outcome"] == "safe" for each in row["targets"] if counts(each)]
    retained = [each["outcome"] in KEPT for each in row["retained"] if counts(each)]
    if not targets:
        return [(0.0, 0.0)] * 7
    return [*_three(targets), *_three(retained), (float(all(targets) and all(retained)), 1.0)]


def _three(succeeded: Sequence[bool]) -> list[tuple[float, float]]:
    """Return the parts of one record in: share of attributes, mean share within a record, share of records."""
    total = len(succeeded)
    if not total:
        return [(0.0, 0.0)] * 3
    return [(float(sum(succeeded)), float(total)), (sum(succeeded) / total, 1.0), (float(all(succeeded)), 1.0)]


def agreement(rows: Iterable[Row]) -> Agreement | None:
    """Compare two evaluators where both have judged the same two guesses; None where no second one was asked."""
    rows = list(rows)
    if all(row["second_evaluator"] is None for row in rows):
        return None
    judged = [
        (each["closer"], each["second_closer"])
        for row in rows
        for each in row["targets"]
        if each["second_closer"] is not None
    ]
    return Agreement(len(judged), sum((one == "original") == (other == "original") for one, other in judged))


def shares(counted_N: Sequence[Mapping[str, int]], seed: int, names: Sequence[str] = ()) -> tuple[Share, ...]:
    """Return the share of each name in all that was counted, with its interval over records drawn again.

    Args:
        counted_N: of each record, how often each name came up.
        seed: of the draws.
        names: in this order; without them the ``TOP`` most frequent ones.
    """
    total = sum((Counter(counted) for counted in counted_N), Counter[str]())
    chosen = names or sorted(total, key=lambda name: (-total[name], name))[:TOP]
    numerators_NK: F64 = np.array(
        [[counted.get(name, 0) for name in chosen] for counted in counted_N], dtype=np.float64
    )
    numerators_NK = numerators_NK.reshape(len(counted_N), len(chosen))
    totals_N1 = np.array([[sum(counted.values())] for counted in counted_N], dtype=np.float64).reshape(-1, 1)
    found = rates(numerators_NK, np.repeat(totals_N1, len(chosen), axis=1), seed)
    return tuple(
        Share(name, total[name], rate.value or 0.0, rate.low, rate.high)
        for name, rate in zip(chosen, found, strict=True)
    )


def by_set(rows: Sequence[Row], splits: Mapping[str, str] | None, seed: int = 0) -> dict[str, Scores]:
    """Return the figures of all rows and, where there are splits, of the vanilla and the hard test."""
    found = {"all": score(rows, seed)}
    for name in ("vanilla", "hard") if splits else ():
        if chosen := [row for row in rows if splits is not None and splits.get(row["record_id"]) == name]:
            found[name] = score(chosen, seed)
    return found
