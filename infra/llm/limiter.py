"""One view of a server's limits for all clients of a run: who may have how many calls open, and how many tokens.

Clients come by regularly, say what they did and what they want, and go with a grant: a width (calls open at once) and a
block of permits (calls and tokens that may be begun). A grant is a lease: who does not come back within ``LEASE_S`` has
lost it, and what it held goes to the others. The limiter keeps nothing that the clients could not tell it again, so
that it can die and be started anew.
"""

import time
from dataclasses import dataclass, field
from typing import Protocol

from infra.llm.quotas import Bucket, Quotas
from infra.llm.types import BackendGone
from infra.llm.window import Clock, Window

LEASE_S = 10.0
SOON_S = 0.1  # until a client that could not be given all it wants comes again
NOTHING_SAID = Quotas()
MOST_CALLS = 1_000_000  # begun between two visits, where no quota is known
CALM_S = 1.0  # until one comes again that waits for nothing


@dataclass(frozen=True, slots=True)
class Terms:
    """What is agreed for one server: the same from every client."""

    ceiling: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What a client did since its last grant, and what it wants.

    Attributes:
        client: which one.
        open: calls that are open now.
        waiting: calls that wait for a place.
        tokens_each: that one of them takes, about.
        used_calls: begun since the last grant.
        used_tokens: of those, and corrections of earlier ones by what they took in truth.
        answered: answers, the youngest to a request sent ``answered_age_s`` ago.
        pressed: 429s and time-outs, the youngest of a request sent ``pressed_age_s`` ago; the server asked for a pause
            of ``retry_after_s``.
        failed: failures of another kind since the last answer.
        quotas: what the server said last.
        gone: why the server will answer nobody any more.
    """

    client: str
    open: int
    waiting: int
    tokens_each: float = 0.0
    used_calls: int = 0
    used_tokens: float = 0.0
    answered: int = 0
    answered_age_s: float = 0.0
    pressed: int = 0
    pressed_age_s: float = 0.0
    retry_after_s: float | None = None
    failed: int = 0
    quotas: Quotas = NOTHING_SAID
    gone: BackendGone | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """What a client may do until its next visit.

    Attributes:
        width: calls open at once.
        calls: that may be begun; tokens are set aside for them.
        again_s: come again then.
        waits_for: what keeps it from more, for whoever asks why a run stands; empty if nothing does.
        gone: why nobody will be answered any more.
    """

    width: int
    calls: int
    again_s: float
    waits_for: str = ""
    gone: BackendGone | None = None


class Limiter(Protocol):
    """Whom clients ask."""

    async def exchange(self, server: str, terms: Terms, demand: Demand) -> Grant:
        """Report, and get a grant.

        Args:
            server: provider and model.
            terms: those of this server.
            demand: what the client did and wants.

        Raises:
            LimiterUnavailable: its process died. It starts again.
        """
        ...


class LimiterUnavailable(Exception):
    """The limiter's process died; it starts again with what the clients tell it."""


@dataclass(slots=True, eq=False)
class _Client:
    width: int = 0
    calls: float = 0.0  # set aside for it in the quotas
    tokens: float = 0.0
    wants: int = 0
    begun: int = 0
    seen_at: float = 0.0


@dataclass(slots=True)
class _Server:
    window: Window
    requests: Bucket
    tokens: Bucket
    clients: dict[str, _Client] = field(default_factory=dict)
    gone: BackendGone | None = None


class Limits:
    """The books of a limiter: no tasks, no network, one call at a time."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._servers: dict[str, _Server] = {}

    def exchange(self, server: str, terms: Terms, demand: Demand) -> Grant:
        """See ``Limiter``."""
        books = self._servers.get(server) or self._servers.setdefault(server, self._new(terms))
        self._expire(books)
        client = books.clients.setdefault(demand.client, _Client())
        client.seen_at, client.wants = self._clock(), demand.open + demand.waiting
        client.begun += demand.used_calls
        self._listen(books, demand)
        _settle(books, client, demand.used_calls, demand.used_tokens)
        if books.gone is not None:
            return Grant(0, 0, CALM_S, "a model that is gone", books.gone)
        if not client.wants:
            del books.clients[demand.client]
            return Grant(0, 0, CALM_S)
        return _grant(books, client, demand)

    def _new(self, terms: Terms) -> _Server:
        return _Server(
            Window(terms.ceiling, self._clock),
            Bucket(terms.requests_per_minute, self._clock),
            Bucket(terms.tokens_per_minute, self._clock),
        )

    def _listen(self, books: _Server, demand: Demand) -> None:
        now = self._clock()
        if demand.answered:
            books.window.widen(now - demand.answered_age_s, demand.answered)
        if demand.pressed:
            books.window.narrow(now - demand.pressed_age_s, demand.retry_after_s)
        if demand.failed:
            books.window.fail(demand.failed)
        books.requests.learn(demand.quotas.requests)
        books.tokens.learn(demand.quotas.tokens)
        books.gone = books.gone or demand.gone

    def _expire(self, books: _Server) -> None:
        now = self._clock()
        for name in [name for name, client in books.clients.items() if now - client.seen_at > LEASE_S]:
            _settle(books, books.clients.pop(name), 0, 0)


def _settle(books: _Server, client: _Client, calls: int, tokens: float) -> None:
    """Put back what the client was granted and has not used."""
    books.requests.take(calls - client.calls)
    books.tokens.take(tokens - client.tokens)
    client.calls, client.tokens = 0.0, 0.0


def _grant(books: _Server, client: _Client, demand: Demand) -> Grant:
    window = books.window
    held_s = window.held_s
    others = sum(other.width for other in books.clients.values() if other is not client)
    width = 0 if held_s else max(0, min(_share(books, client), window.width - others))
    client.width = max(width, demand.open)
    rate_s = max(books.requests.wait_s, books.tokens.wait_s)
    calls = 0 if held_s or rate_s else _affordable(books, demand.tokens_each)
    client.calls, client.tokens = books.requests.take(calls), books.tokens.take(calls * demand.tokens_each)
    waits_for, again_s = "", CALM_S
    if held_s:
        waits_for = "a server that is down" if window.is_broken else "the server's pause"
        again_s = min(held_s, CALM_S)
    elif width - demand.open < demand.waiting:
        waits_for, again_s = "a free place", SOON_S
    elif calls < demand.waiting:
        waits_for, again_s = "the rate limit", max(SOON_S, min(rate_s, CALM_S))
    return Grant(width, calls, again_s, waits_for if demand.waiting else "")


def _affordable(books: _Server, tokens_each: float) -> int:
    """Return how many calls the quotas allow this client to begin, one at least: the last may overdraw them."""
    clients = len(books.clients)
    by_tokens = books.tokens.level / max(1.0, tokens_each) / clients
    return max(1, int(min(MOST_CALLS, books.requests.level / clients, by_tokens)))


def _share(books: _Server, client: _Client) -> int:
    """Divide the window: everyone what it wants, or an equal part; what is left over goes to all alike.

    One such part stays here, for whoever wants more next: what is lent comes back only with its client, up to
    ``CALM_S`` later. Where the parts do not come out even, those get one more that have begun the fewest calls.
    """
    left = books.window.width
    by_want = sorted(books.clients.values(), key=lambda each: each.wants)
    for place, each in enumerate(by_want):
        rest = by_want[place:]
        part = left // len(rest)
        if each.wants > part:
            favoured = sorted(rest, key=lambda one: one.begun)[: left % len(rest)]
            return client.wants if client.wants <= part else part + (client in favoured)
        left -= each.wants
    return client.wants + left // (len(by_want) + 1)


class LocalLimiter:
    """The limiter of a run in one process."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._limits = Limits(clock)

    async def exchange(self, server: str, terms: Terms, demand: Demand) -> Grant:
        """See ``Limiter``."""
        return self._limits.exchange(server, terms, demand)
