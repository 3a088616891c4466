"""The limiter of a run: one actor that all workers' clients ask for their places and permits."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from infra.llm.limiter import Demand, Grant, LimiterUnavailable, Limits, Terms


@dataclass(frozen=True)
class RayLimiter:
    """A handle to the limiter's actor, to be passed to workers on any node."""

    actor: Any

    async def exchange(self, server: str, terms: Terms, demand: Demand) -> Grant:
        """Report, and get a grant; see ``infra.llm.limiter.Limiter``.

        Raises:
            LimiterUnavailable: its process died. It starts again.
        """
        from ray.exceptions import RayActorError

        try:
            grant: Grant = await self.actor.exchange.remote(server, terms, demand)
        except RayActorError as error:
            raise LimiterUnavailable(f"limiter, {server}: {error}") from error
        return grant


@contextmanager
def ray_limiter() -> Iterator[RayLimiter]:
    """Keep a limiter in an actor of the connected cluster for the length of the block."""
    import ray

    # No task retries: a report that is repeated behind our back would count twice.
    actor: Any = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(Limits).remote()
    try:
        yield RayLimiter(actor)
    finally:
        ray.kill(actor)
