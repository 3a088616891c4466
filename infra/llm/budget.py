"""How many retries a client may add to its calls: a storm of errors must not become a storm of retries."""

import time

from infra.llm.window import Clock

RATIO = 0.25  # retries an answer pays for: below 1.3 calls for each that was needed, whatever goes wrong
RESERVE = 10.0  # retries in hand at the start, for the first errors of a run
LARGEST = 50.0
TRICKLE_PER_S = 0.5  # so that a client without answers still probes


class RetryBudget:
    """Answers earn retries, retries spend them; who finds nothing left waits.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._level = RESERVE
        self._filled_at = clock()

    def earn(self) -> None:
        """Count an answer."""
        self._level = min(LARGEST, self._level + RATIO)

    def take(self) -> float:
        """Take one retry and return 0, or return after how many seconds to ask again."""
        now = self._clock()
        self._level = min(LARGEST, self._level + (now - self._filled_at) * TRICKLE_PER_S)
        self._filled_at = now
        if self._level < 1:
            return min(1.0, (1 - self._level) / TRICKLE_PER_S)
        self._level -= 1
        return 0.0
