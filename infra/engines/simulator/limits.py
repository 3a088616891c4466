"""Rate limits as a paid API has them: so many requests a second, so many tokens a minute."""

from collections.abc import Callable

from infra.engines.simulator.config import SimulatorConfig


class Bucket:
    """A token bucket that refills steadily and may be overdrawn once, by a cost known only afterwards."""

    def __init__(self, per_second: float, capacity: float, clock: Callable[[], float]) -> None:
        self.capacity = capacity
        self._per_second = per_second
        self._clock = clock
        self._level = capacity
        self._filled_at = clock()

    def level(self) -> float:
        """Return what is left now."""
        now = self._clock()
        self._level = min(self.capacity, self._level + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        return self._level

    def take(self, amount: float) -> None:
        """Take out ``amount``, below zero if need be."""
        self._level = self.level() - amount

    def seconds_until(self, amount: float) -> float:
        """Return how long it takes until ``amount`` is there; an amount above capacity counts as capacity."""
        return max(0.0, min(amount, self.capacity) - self.level()) / self._per_second


class RateLimits:
    """The limits of one configuration, in force over all clients together."""

    def __init__(self, config: SimulatorConfig, clock: Callable[[], float]) -> None:
        per_second, per_minute = config.requests_per_second, config.tokens_per_minute
        self._requests = Bucket(per_second, max(1.0, per_second), clock) if per_second else None
        self._tokens = Bucket(per_minute / 60, per_minute, clock) if per_minute else None

    def admit(self, prompt_tokens: int) -> float:
        """Let a call in and return 0, or return the seconds after which it would be let in."""
        wait_s = max(
            self._requests.seconds_until(1) if self._requests else 0,
            self._tokens.seconds_until(prompt_tokens) if self._tokens else 0,
        )
        if wait_s == 0:
            self.charge(prompt_tokens)
            if self._requests:
                self._requests.take(1)
        return wait_s

    def charge(self, tokens: int) -> None:
        """Charge tokens of an answer, which are known only when it is written."""
        if self._tokens:
            self._tokens.take(tokens)

    def headers(self) -> dict[str, str]:
        """Describe what is left, as ``x-ratelimit-*`` headers; none where there is no limit."""
        headers: dict[str, str] = {}
        for name, bucket in (("requests", self._requests), ("tokens", self._tokens)):
            if bucket:
                headers[f"x-ratelimit-limit-{name}"] = str(int(bucket.capacity))
                headers[f"x-ratelimit-remaining-{name}"] = str(max(0, int(bucket.level())))
                headers[f"x-ratelimit-reset-{name}"] = f"{bucket.seconds_until(bucket.capacity):.3f}s"
        return headers
