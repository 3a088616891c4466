"""Several servers of the same model behind one client."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Self

from infra.llm.retry import CallCounters
from infra.llm.types import Backend, BackendGone, BackendUnavailable, Reply, Request

_REMEMBERED = 65_536  # records whose replica is known; far more than one worker has in hand
_OUT_S = 5.0  # a replica that failed is left alone that long, then twice, up to the cap
_OUT_CAP_S = 60.0


@dataclass
class _Replica:
    backend: Backend
    outstanding: int = 0
    failures: int = 0  # in a row
    out_until: float = field(default=float("-inf"))


class ReplicatedBackend:
    """Sends each call to one of several servers of the same model.

    A record's first call goes to the replica with the fewest calls outstanding from here, and its others to the same
    one: a record's prompts grow from a shared beginning that the replica has in its prefix cache. A replica that cannot
    be reached is left out for a while; its calls go to the others.

    Args:
        backends: one for each server. Each should give up soon: trying again is done here, elsewhere.
        patience_s: how long a call waits for any replica to come back.
        clock: seconds, monotonic.
    """

    def __init__(
        self, backends: Sequence[Backend], *, patience_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not backends:
            raise ValueError("no replicas")
        self._replicas = [_Replica(backend) for backend in backends]
        self._homes: OrderedDict[str, _Replica] = OrderedDict()
        self._patience_s = patience_s
        self._clock = clock
        self._stack = AsyncExitStack()

    @property
    def model(self) -> str:
        """The model's name, the same on all replicas."""
        return self._replicas[0].backend.model

    @property
    def counters(self) -> tuple[CallCounters, ...]:
        """Tries, answers and failures so far, of each replica that counts them."""
        found = (getattr(each.backend, "counters", None) for each in self._replicas)
        return tuple(counters for counters in found if isinstance(counters, CallCounters))

    async def complete(self, request: Request) -> Reply:
        """Answer ``request`` from one of the replicas.

        Raises:
            RequestRejected: the request can never work.
            BackendGone: no request ever will.
            BackendUnavailable: no replica answered within the patience.
        """
        record = request.tags.get("record_id", "")
        deadline = self._clock() + self._patience_s
        while True:
            replica = self._choose(record)
            if replica.out_until > self._clock():  # all are out: the one that is back first
                if replica.out_until > deadline:
                    raise BackendUnavailable(
                        f"{self.model}: none of {len(self._replicas)} replicas has answered for {self._patience_s:g} s"
                    )
                await asyncio.sleep(max(0.0, replica.out_until - self._clock()))
            replica.outstanding += 1
            try:
                reply = await replica.backend.complete(request)
            except BackendGone:  # the same configuration, the same end at the others
                raise
            except BackendUnavailable:
                self._leave_out(replica)
                if self._clock() > deadline:
                    raise
            else:
                replica.failures = 0
                return reply
            finally:
                replica.outstanding -= 1

    def _choose(self, record: str) -> _Replica:
        now = self._clock()
        home = self._homes.get(record)
        if home is None or home.out_until > now:
            ready = [each for each in self._replicas if each.out_until <= now]
            home = (
                min(ready, key=lambda each: each.outstanding)
                if ready
                else min(self._replicas, key=lambda each: each.out_until)
            )
        if record:
            self._homes[record] = home
            self._homes.move_to_end(record)
            if len(self._homes) > _REMEMBERED:
                self._homes.popitem(last=False)
        return home

    def _leave_out(self, replica: _Replica) -> None:
        now = self._clock()
        if replica.out_until > now:  # of calls that failed at once the first has said it
            return
        replica.failures += 1
        replica.out_until = now + min(_OUT_CAP_S, _OUT_S * 2.0 ** (replica.failures - 1))

    async def __aenter__(self) -> Self:
        for replica in self._replicas:
            await self._stack.enter_async_context(replica.backend)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()
