"""Which engines of the cluster are up: one actor that they report to, and that every client asks."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from infra.llm.roster import RosterUnavailable, Servers

REPORT_S = 2.0  # how often an engine says that it is up
LOST_S = 15.0  # a silent one is taken for lost: its node is gone
SETTLED_S = 3 * REPORT_S  # after its start the actor has heard of all that are up


class Board:
    """The body of the actor: what each engine has said last.

    Args:
        key: what the engines take.
        clock: seconds, monotonic.
    """

    def __init__(self, key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._key = key
        self._clock = clock
        self._said: dict[int, tuple[str, float]] = {}
        self._began = clock()

    def report(self, replica: int, address: str) -> None:
        """Take down that a replica is up."""
        self._said[replica] = (address, self._clock())

    def leave(self, replica: int) -> None:
        """Take down that a replica is no more."""
        self._said.pop(replica, None)

    def servers(self) -> Servers:
        """Return those that have reported lately.

        Raises:
            RosterUnavailable: the actor was only just started, maybe again: the engines may not have had time to.
        """
        if self._clock() - self._began < SETTLED_S:
            raise RosterUnavailable(f"it was started less than {SETTLED_S:g} s ago")
        lost = self._clock() - LOST_S
        return Servers(tuple(address for _, (address, at) in sorted(self._said.items()) if at > lost), self._key)


@dataclass(frozen=True)
class RayRoster:
    """The actor of a run's engines, found by its name: also after it was started again."""

    name: str

    async def servers(self) -> Servers:
        """Return the servers that are up now.

        Raises:
            RosterUnavailable: the actor is gone, or starts again, or does not know yet.
        """
        import ray
        from ray.exceptions import RayActorError

        try:
            servers: Servers = await ray.get_actor(self.name).servers.remote()
        except (RayActorError, ValueError) as error:  # Ray's word for a name that it does not know
            raise RosterUnavailable(f"the roster {self.name} does not answer ({error})") from error
        return servers
