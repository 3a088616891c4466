"""Slows a client down when vLLM's queue grows: a full server sends no 429, it lets calls wait until they time out."""

import asyncio
import logging
import time
from typing import Protocol, Self
from urllib.parse import urlsplit, urlunsplit

import aiohttp

from infra.llm.limits import Limit
from infra.llm.retry import CallCounters
from infra.llm.types import Backend, Reply, Request
from infra.scrape import NotMetrics, metrics_of

logger = logging.getLogger(__name__)

POLL_S = 2.0
QUEUED = 0.25  # waiting requests for each running one: enough to keep the next batch full, and no more
CACHE_FULL = 0.95  # share of the KV cache in use; beyond it running requests are put back and computed again


class Counted(Backend, Protocol):
    """A backend that counts its tries."""

    @property
    def counters(self) -> CallCounters:
        """Tries, answers and failures so far."""
        ...


class QueueWatch:
    """A backend whose limit narrows while the server's queue is long or its KV cache full.

    Args:
        backend: sends the calls, and counts its tries.
        limit: of that backend.
        base_url: of the server, ending in /v1; its metrics are beside it.
        poll_s: from one look to the next.
    """

    def __init__(self, backend: Counted, limit: Limit, base_url: str, poll_s: float = POLL_S) -> None:
        self._backend = backend
        self._limit = limit
        parts = urlsplit(base_url)
        self._url = urlunsplit((parts.scheme, parts.netloc, "/metrics", "", ""))
        self._poll_s = poll_s
        self._watch: asyncio.Task[None] | None = None

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._backend.model

    @property
    def counters(self) -> CallCounters:
        """Tries, answers and failures so far."""
        return self._backend.counters

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``; errors as of the backend."""
        return await self._backend.complete(request)

    async def __aenter__(self) -> Self:
        await self._backend.__aenter__()
        self._watch = asyncio.create_task(self._look_for_ever())
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
        await self._backend.__aexit__(*exc)

    async def _look_for_ever(self) -> None:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as http:
            while True:
                try:
                    async with http.get(self._url) as response:
                        has_metrics, text = response.status == 200, await response.text(errors="replace")
                    full = has_metrics and is_full(text)
                except (aiohttp.ClientError, TimeoutError):  # it is down or busy: the calls themselves will tell
                    has_metrics, full = True, False
                except NotMetrics:
                    has_metrics, full = False, False
                if not has_metrics:
                    logger.info("%s has no metrics at %s: its queue is not watched", self.model, self._url)
                    return
                if full:
                    self._limit.narrow(time.monotonic(), None)
                await asyncio.sleep(self._poll_s)


def is_full(metrics: str) -> bool:
    """Tell whether vLLM has more work than it can do.

    Args:
        metrics: in the Prometheus format; those of another server never tell.

    Raises:
        NotMetrics: they are not.
    """
    values = metrics_of(metrics)
    running, waiting = values["vllm:num_requests_running"], values["vllm:num_requests_waiting"]
    return waiting > QUEUED * running or (running > 0 and values["vllm:kv_cache_usage_perc"] > CACHE_FULL)
