"""How many requests a server takes at once: widened by its answers, narrowed by its pressure, shut while it is down."""

from collections.abc import Callable

Clock = Callable[[], float]

DECREASE = 0.75  # of the limit, at the first sign of pressure in a round trip
STEPS_TO_CEILING = 32  # round trips without pressure from nothing to the ceiling
FAILURES_IN_A_ROW = 16  # without any answer in between, before the circuit opens
FIRST_COOLING_S = 1.0  # until the next probe; doubled with each one that fails
LONGEST_COOLING_S = 30.0


class Window:
    """Additive increase, multiplicative decrease, as TCP does it; a hold; and a circuit breaker.

    One round trip of pressure narrows it once: requests sent before the last decrease say nothing new. While the
    server's Retry-After runs, nobody is let through, unless the server answers a request that was sent after the one it
    refused: then it did not mean everyone (one replica of several, or one request with too many tokens).

    The circuit opens when ``FAILURES_IN_A_ROW`` calls (or a whole window of them, if that is more) have failed and none
    was answered: then one probe at a time goes, after a pause that doubles up to ``LONGEST_COOLING_S``. The first
    answer closes it.

    Args:
        ceiling: requests open at once without pressure.
        clock: seconds, monotonic.
    """

    def __init__(self, ceiling: int, clock: Clock) -> None:
        self._ceiling = ceiling
        self._limit = float(ceiling)
        self._clock = clock
        self._narrowed_at = float("-inf")
        self._closed_until = float("-inf")
        self._refused_sent_at = float("-inf")  # when the request was sent whose refusal closed it
        self._failed = 0  # in a row
        self._cooling_s = 0.0  # the last pause of an open circuit; 0 while it is closed

    @property
    def width(self) -> int:
        """Requests that may be open at once now."""
        return 1 if self._cooling_s else int(self._limit)

    @property
    def held_s(self) -> float:
        """Seconds for which nobody is let through."""
        return max(0.0, self._closed_until - self._clock())

    @property
    def is_broken(self) -> bool:
        """Whether the circuit is open: the server has answered nobody for a while."""
        return self._cooling_s > 0

    def widen(self, sent_at: float, answers: int = 1) -> None:
        """Count answers, the youngest of a request sent at ``sent_at``: a full window of them adds one step."""
        self._failed = 0
        if sent_at > self._refused_sent_at or self._cooling_s:
            self._closed_until = float("-inf")
        self._cooling_s = 0.0
        step = max(1.0, self._ceiling / STEPS_TO_CEILING)
        self._limit = min(float(self._ceiling), self._limit + answers * step / self._limit)

    def narrow(self, sent_at: float, retry_after_s: float | None) -> None:
        """Count pressure on the request sent at ``sent_at``; hold everyone for as long as the server asks."""
        now = self._clock()
        if sent_at >= self._narrowed_at:
            self._limit = max(1.0, self._limit * DECREASE)
            self._narrowed_at = now
        if retry_after_s is not None:
            self._closed_until = max(self._closed_until, now + retry_after_s)
            self._refused_sent_at = max(self._refused_sent_at, sent_at)

    def hold(self, seconds: float) -> None:
        """Let nobody through for ``seconds``: the server has said that nothing is left of a quota."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)

    def fail(self, failures: int = 1) -> None:
        """Count failures other than 429, after which the server is none the fuller but may be down."""
        self._failed += failures
        if self._failed < max(FAILURES_IN_A_ROW, self._limit) or self.held_s:
            return
        self._cooling_s = min(LONGEST_COOLING_S, 2 * self._cooling_s or FIRST_COOLING_S)
        self.hold(self._cooling_s)
