"""Several servers of the same model behind one client."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from infra.llm.retry import CallCounters
from infra.llm.types import Backend, BackendGone, BackendUnavailable, Reply, Request

_REMEMBERED = 65_536  # records whose replica is known; far more than one worker has in hand
_OUT_S = 5.0  # a replica that failed is left alone that long, then twice, up to the cap
_OUT_CAP_S = 60.0
_LOOK_S = 1.0  # how often a call that found no replica looks for one


@dataclass(eq=False)
class _Replica:
    backend: Backend
    calls: set[asyncio.Task[Reply]] = field(default_factory=set)
    failures: int = 0  # in a row
    out_until: float = field(default=float("-inf"))
    is_gone: bool = False


class ReplicatedBackend:
    """Sends each call to one of several servers of the same model.

    A record's first call goes to the replica with the fewest calls outstanding from here, and its others to the same
    one: a record's prompts grow from a shared beginning that the replica has in its prefix cache. A replica that cannot
    be reached is left out for a while; its calls go to the others.

    Args:
        model: its name, the same on all replicas.
        backends: one for each server, by its name; more can be added. Each should give up soon: trying again is done
            here, elsewhere.
        patience_s: how long a call waits for any replica to come back.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        model: str,
        backends: Mapping[str, Backend] = MappingProxyType({}),
        *,
        patience_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self._replicas = {name: _Replica(backend) for name, backend in backends.items()}
        self._homes: OrderedDict[str, _Replica] = OrderedDict()
        self._patience_s = patience_s
        self._clock = clock

    @property
    def counters(self) -> tuple[CallCounters, ...]:
        """Tries, answers and failures so far, of each replica that counts them."""
        found = (getattr(each.backend, "counters", None) for each in self._replicas.values())
        return tuple(counters for counters in found if isinstance(counters, CallCounters))

    async def add(self, name: str, backend: Backend) -> None:
        """Open one more replica and send calls to it."""
        await backend.__aenter__()
        self._replicas[name] = _Replica(backend)

    async def remove(self, name: str) -> None:
        """Forget a replica that is no more.

        The calls that it has in hand are sent to others at once: a machine that is gone does not hang up.
        """
        replica = self._replicas.pop(name)
        replica.is_gone = True
        for call in replica.calls:
            call.cancel()
        if replica.calls:
            await asyncio.wait(replica.calls)
        await replica.backend.__aexit__(None, None, None)

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
            replica = await self._ready(record, deadline)
            try:
                reply = await self._ask(replica, request)
            except BackendGone:  # the same configuration, the same end at the others
                raise
            except BackendUnavailable:
                self._leave_out(replica)
                if self._clock() > deadline:
                    raise
            else:
                if reply is not None:
                    replica.failures = 0
                    return reply

    async def _ask(self, replica: _Replica, request: Request) -> Reply | None:
        """Return the answer of ``replica``, or None if it was removed meanwhile."""
        call = asyncio.ensure_future(replica.backend.complete(request))
        replica.calls.add(call)
        try:
            return await call
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not replica.is_gone or (task is not None and task.cancelling()):
                raise
            return None
        finally:
            replica.calls.discard(call)

    async def _ready(self, record: str, deadline: float) -> _Replica:
        """Return the replica for a record; where all are out, when the first of them is back.

        Raises:
            BackendUnavailable: that would be too late.
        """
        while True:
            replica = self._choose(record)
            now = self._clock()
            if replica is not None and replica.out_until <= now:
                return replica
            if (now if replica is None else replica.out_until) > deadline:
                raise BackendUnavailable(
                    f"{self.model}: none of {len(self._replicas)} replicas has answered for {self._patience_s:g} s"
                )
            await asyncio.sleep(_LOOK_S if replica is None else min(_LOOK_S, replica.out_until - now))

    def _choose(self, record: str) -> _Replica | None:
        """Return the replica that a record's next call is for; None while there is none."""
        now = self._clock()
        home = self._homes.get(record)
        if home is not None and not home.is_gone and home.out_until <= now:
            self._homes.move_to_end(record)
            return home
        replicas = self._replicas.values()
        ready = [each for each in replicas if each.out_until <= now]
        if not ready:
            return min(replicas, key=lambda each: each.out_until, default=None)
        home = min(ready, key=lambda each: len(each.calls))
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
        opened: list[_Replica] = []
        try:
            for replica in self._replicas.values():
                await replica.backend.__aenter__()
                opened.append(replica)
        except BaseException:
            for replica in opened:
                await replica.backend.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        for replica in self._replicas.values():
            await replica.backend.__aexit__(*exc)
