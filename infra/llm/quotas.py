"""Requests and tokens a minute: what the configuration allows, or what the server's headers say is left."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from infra.llm.window import Clock

BURST_S = 2.0  # what a configured rate lets through at once after a pause, in seconds of that rate
_TELLING = 0.1  # share of a quota that has to be used up before its refill rate can be read from it
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
SECONDS = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of one quota: ``left`` of ``limit``, full again after ``reset_s`` seconds."""

    limit: float
    left: float
    reset_s: float


@dataclass(frozen=True, slots=True)
class Quotas:
    """What a server says of its quotas with an answer."""

    requests: Quota | None = None
    tokens: Quota | None = None


def read_quotas(headers: Mapping[str, str]) -> Quotas:
    """Read ``x-ratelimit-{limit,remaining,reset}-{requests,tokens}``; what cannot be read is as good as absent.

    Args:
        headers: with lower-case or case-insensitive names.
    """
    if "x-ratelimit-limit-requests" not in headers and "x-ratelimit-limit-tokens" not in headers:
        return Quotas()
    return Quotas(_quota(headers, "requests"), _quota(headers, "tokens"))


def _quota(headers: Mapping[str, str], name: str) -> Quota | None:
    limit, left = headers.get(f"x-ratelimit-limit-{name}", ""), headers.get(f"x-ratelimit-remaining-{name}", "")
    reset_s = duration_s(headers.get(f"x-ratelimit-reset-{name}", ""))
    if reset_s is None or not SECONDS.fullmatch(limit) or not SECONDS.fullmatch(left):
        return None
    return Quota(float(limit), float(left), reset_s)


def duration_s(text: str) -> float | None:
    """Read ``6m0s``, ``7.66s``, ``120ms`` or plain seconds."""
    if SECONDS.fullmatch(text):
        return float(text)
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


class Bucket:
    """A quota as we keep it: it refills steadily, and who finds it above zero may overdraw it.

    Without a configured rate it is bottomless until the server's headers tell how fast the quota refills.
    """

    def __init__(self, per_minute: float | None, clock: Clock) -> None:
        self._is_given = per_minute is not None
        self._per_s = None if per_minute is None else per_minute / 60
        self._capacity = 0.0 if per_minute is None else per_minute / 60 * BURST_S
        self._clock = clock
        self._level = 0.0  # a restart must not hand out a second burst
        self._filled_at = clock()

    @property
    def level(self) -> float:
        """What may be taken now; infinite without a rate."""
        if self._per_s is None:
            return float("inf")
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._filled_at) * self._per_s)
        self._filled_at = now
        return self._level

    @property
    def wait_s(self) -> float:
        """Seconds until something may be taken."""
        level = self.level
        return 0.0 if level > 0 or self._per_s is None else -level / self._per_s + 1e-3

    def take(self, amount: float) -> float:
        """Take ``amount`` out, or put it back where it is negative; return what is missing now that was not before."""
        if self._per_s is None:
            return 0.0
        self._level = self.level - amount
        return amount

    def learn(self, quota: Quota | None) -> None:
        """Read the rate of a quota that nobody has configured from how long the server says it takes to refill."""
        if quota is None or self._is_given or quota.limit - quota.left < _TELLING * quota.limit or not quota.reset_s:
            return
        level = quota.left if self._per_s is None else min(self.level, quota.left)
        self._per_s = (quota.limit - quota.left) / quota.reset_s
        self._capacity, self._level, self._filled_at = quota.limit, level, self._clock()
