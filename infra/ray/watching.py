"""The books of a worker: what its jobs have open, what they wait for, what their calls came to."""

import os
import re
import socket
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from infra.histogram import SECONDS, TOKENS, Histogram
from infra.llm.limiter import Demand, Grant
from infra.llm.retry import CallCounters
from infra.llm.types import Reply, Request
from infra.run_state import JobState, ServerState, StepState, Waits, WorkerLook, servers_of, sum_waits

NO_STEP = "other"
_SECRETS = re.compile(r"//[^/@\s]*@")  # a name and a password in an address
WORDS: Mapping[str, Waits] = {
    "a free place": "engine queue",
    "the rate limit": "rate limit",
    "the server's pause": "rate limit",
    "a server that is down": "server down",
    "a model that is gone": "server down",
}


class _Step:
    """The answered calls of one step to one model."""

    __slots__ = ("answering", "completion", "prompt", "seconds")

    def __init__(self) -> None:
        self.seconds, self.answering = Histogram(SECONDS), Histogram(SECONDS)
        self.prompt, self.completion = Histogram(TOKENS), Histogram(TOKENS)

    def state(self, step: str, model: str) -> StepState:
        return StepState(
            step=step,
            model=model,
            seconds=self.seconds.spread(),
            answering=self.answering.spread(),
            prompt=self.prompt.spread(),
            completion=self.completion.spread(),
        )


@dataclass(slots=True)
class JobWatch:
    """What one job has open now.

    Attributes:
        counters: the job's own.
        asking: calls, by model.
        since: when each of them began, the oldest first.
        embedding: likewise.
        batched: calls that are on their way with a batch, or wait for one to go out.
        pool: visits to the keeper.
        has_begun: whether it has asked for anything yet.
    """

    counters: Counter[str]
    asking: Counter[str] = field(default_factory=Counter)
    since: dict[int, float] = field(default_factory=dict)
    embedding: Counter[str] = field(default_factory=Counter)
    batched: int = 0
    pool: int = 0
    has_begun: bool = False

    def phase(self) -> Waits | None:
        """Say what a job waits for that has nothing open: its chains wait for nothing else, so they are no more."""
        if self.pool or self.batched or self.asking.total() or self.embedding.total():
            return None
        return "disk" if self.has_begun or self.counters else "start"


class Watching:
    """The books of one worker process: written on its event loop, without locks."""

    def __init__(self) -> None:
        self._process = uuid.uuid4().hex
        self._jobs: dict[str, JobWatch] = {}
        self._finished: Counter[str] = Counter()
        self._steps: dict[tuple[str, str], _Step] = {}
        self._servers: dict[tuple[str, str], ServerState] = {}
        self._clients: dict[int, tuple[str, object]] = {}
        self._counters: dict[int, tuple[str, CallCounters]] = {}

    def begin(self, name: str, counters: Counter[str]) -> JobWatch:
        """Begin to watch a job."""
        watch = self._jobs[name] = JobWatch(counters)
        return watch

    def end(self, name: str, *, well: bool) -> None:
        """Forget a job; what one that failed has counted will be counted by the next that tries."""
        job = self._jobs.pop(name)
        if well:
            self._finished.update(job.counters)

    def answered(self, request: Request, model: str, seconds: float, reply: Reply) -> None:
        """Count an answer; of the step's name only the kind, what follows a dash are numbers and names."""
        key = (request.tags.get("step", NO_STEP).partition("-")[0], model)
        step = self._steps.get(key)
        if step is None:
            step = self._steps[key] = _Step()
        step.seconds.add(seconds)
        step.answering.add(reply.latency_s)
        step.prompt.add(reply.usage.prompt)
        step.completion.add(reply.usage.completion)

    def note_client(self, model: str, client: object) -> None:
        """Remember a client that counts its failed tries, or, of several servers, those of each."""
        self._clients[id(client)] = (model, client)

    def note_visit(self, server: str, demand: Demand, grant: Grant) -> None:
        """Remember what a client told the limiter, and what it was told: where nothing keeps calls, they go now."""
        sent, kept = (demand.open, demand.waiting) if grant.waits_for else (demand.open + demand.waiting, 0)
        self._servers[server, demand.client] = ServerState(
            server=_SECRETS.sub("//", server), open=sent, waiting=kept, width=grant.width, waits_for=grant.waits_for
        )

    def progress(self) -> dict[str, dict[str, int]]:
        """Return the counters of the jobs running now, which is all that a progress line needs."""
        return {name: dict(job.counters) for name, job in self._jobs.items()}

    def look(self) -> WorkerLook:
        """Return all of it as it is now."""
        failures: dict[str, Counter[str]] = {}
        for model, counters in self._all_counters():
            failures.setdefault(model, Counter()).update(counters.failures)
        return WorkerLook(
            process=self._process,
            host=socket.gethostname(),
            pid=os.getpid(),
            jobs=tuple(JobState(name=name, counters=dict(job.counters)) for name, job in self._jobs.items()),
            finished=dict(self._finished),
            waits=self._waits(),
            oldest_s=self._oldest_s(),
            servers=servers_of(self._servers.values()),
            steps=tuple(step.state(*key) for key, step in self._steps.items()),
            failures={model: dict(kinds) for model, kinds in failures.items() if kinds},
        )

    def _all_counters(self) -> list[tuple[str, CallCounters]]:
        """Return the counters of all servers, of those too that have gone since: a count never falls."""
        for model, client in self._clients.values():
            counters = getattr(client, "counters", ())
            for each in counters if isinstance(counters, tuple) else (counters,):
                if isinstance(each, CallCounters):
                    self._counters[id(each)] = (model, each)
        return list(self._counters.values())

    def _oldest_s(self) -> float:
        now = time.monotonic()
        return max((now - next(iter(job.since.values())) for job in self._jobs.values() if job.since), default=0.0)

    def _waits(self) -> dict[Waits, int]:
        jobs = self._jobs.values()
        phases = Counter(phase for job in jobs if (phase := job.phase()) is not None)
        waits: list[Mapping[Waits, int]] = [
            phases,
            {"pool": sum(job.pool for job in jobs), "batch": sum(job.batched for job in jobs)},
        ]
        for kind, open_calls in (
            ("engine", sum((job.asking for job in jobs), Counter[str]())),
            ("embedding", sum((job.embedding for job in jobs), Counter[str]())),
        ):
            waits += [self._calls_of(model, cast(Waits, kind), calls) for model, calls in open_calls.items()]
        return {reason: count for reason, count in sum_waits(waits).items() if count}

    def _calls_of(self, model: str, kind: Waits, calls: int) -> Mapping[Waits, int]:
        """Divide the open calls to a model by what they wait for; the limiter's view may be a second old."""
        servers = [state for state in self._servers.values() if state.server.endswith(f" {model}")]
        if not servers:  # one that shares its limit with nobody
            return {kind: calls}
        waits: Counter[Waits] = Counter()
        for state in servers:
            queued = min(state.waiting, calls - waits.total())
            waits[WORDS.get(state.waits_for, "engine queue")] += queued
        sent = min(calls - waits.total(), sum(state.open for state in servers))
        waits[kind] += sent
        waits["next try"] += calls - waits.total()
        return waits
