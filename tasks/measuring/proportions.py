"""Shares of things that went one way, how sure they are, and what a smaller number of tries would have shown."""

import math
from dataclasses import dataclass

_Z = 1.959963984540054  # of the normal distribution's middle 95 %


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share, as a fraction of one, with the 95 % interval of Wilson's score; None where there is nothing to count."""

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def counted(cls, count: int, of: int) -> "Proportion":
        """Return ``count`` out of ``of``.

            (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)

        Raises:
            ValueError: ``count`` is not within 0 and ``of``.
        """
        if not 0 <= count <= of:
            raise ValueError(f"{count} out of {of}: the first must be from 0 to the second")
        if of == 0:
            return cls(0, 0, None, None, None)
        share, squared = count / of, _Z * _Z
        middle = share + squared / (2 * of)
        half = _Z * math.sqrt(share * (1 - share) / of + squared / (4 * of * of))
        scale = 1 + squared / of
        # At the ends the formula gives 0 and 1 but for rounding.
        low = 0.0 if count == 0 else (middle - half) / scale
        high = 1.0 if count == of else (middle + half) / scale
        return cls(count, of, share, low, high)


def at_least_once(tries: int, successes: int, budget: int) -> float:
    """Return the chance that ``budget`` of ``tries`` tries, drawn without replacement, hold a success.

        1 - C(tries - successes, budget) / C(tries, budget)

    The unbiased estimate of "one of ``budget`` succeeds", known as pass@k.

    Raises:
        ValueError: the numbers do not fit each other.
    """
    if not (0 <= successes <= tries and 1 <= budget <= tries):
        raise ValueError(f"{successes} successes in {tries} tries, {budget} of them: 1 to all tries can be taken")
    return 1.0 - math.comb(tries - successes, budget) / math.comb(tries, budget)
