"""Whether two shares of different texts differ, and by how much at most."""

import math
from dataclasses import dataclass

from tasks.measuring.proportions import Proportion


@dataclass(frozen=True, slots=True)
class Difference:
    """The first share minus the second, as a fraction of one, with its 95 % interval; None where one is of nothing.

    Attributes:
        value: the difference.
        low: Newcombe's lower limit.
        high: Newcombe's upper limit.
        p: two-sided, of Fisher's exact test that both shares are the same.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None


def difference(first: Proportion, second: Proportion) -> Difference:
    """Compare two shares of independent texts; pairs of the same text would want McNemar's test instead.

    The interval is Newcombe's hybrid of Wilson's scores (Newcombe 1998, method 10):

        d - sqrt((p1 - l1)² + (u2 - p2)²)   to   d + sqrt((u1 - p1)² + (p2 - l2)²)
    """
    match first, second:
        case Proportion(n1, of1, float(p1), float(l1), float(u1)), Proportion(n2, of2, float(p2), float(l2), float(u2)):
            gap = p1 - p2
            return Difference(
                value=gap,
                low=gap - math.hypot(p1 - l1, u2 - p2),
                high=gap + math.hypot(u1 - p1, p2 - l2),
                p=fisher_p(n1, of1, n2, of2),
            )
        case _:
            return Difference(None, None, None, None)


def fisher_p(count: int, of: int, other_count: int, other_of: int) -> float:
    """Return the two-sided p of Fisher's exact test: the chance of a table as unlikely as this, its margins given.

    Whole numbers throughout, so that tables that are equally unlikely are seen to be.
    """
    hits = count + other_count
    ways = [math.comb(of, k) * math.comb(other_of, hits - k) for k in range(max(0, hits - other_of), min(of, hits) + 1)]
    seen = math.comb(of, count) * math.comb(other_of, other_count)
    return sum(each for each in ways if each <= seen) / math.comb(of + other_of, hits)
