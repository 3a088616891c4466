"""What is known of a run while it runs, as small frozen data: what each worker says, and the sum over all."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from infra.histogram import Spread
from infra.shards.owner import Owner

Waits = Literal[
    "engine",  # an answer
    "batch",  # the answer of a batch that is under way at a provider: minutes to a day
    "engine queue",  # a free place at a server that is full
    "rate limit",  # the account's quota, or a pause that the server has asked for
    "server down",  # the next probe of a server that answers nobody
    "next try",  # between two tries of a call that has failed
    "embedding",
    "pool",  # the keeper of the vectors that all shards share
    "start",  # lease, journal and clients of a shard that has asked nothing yet
    "disk",  # a shard whose calls are done is being written
    "lease",  # a shard that another process has
    "worker",  # a shard that no worker is free for
    "another attempt",  # a shard that has failed
    "budget",  # a shard that will not be begun: the money is spent
]


class _State(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StepState(_State):
    """The answered calls of one kind of step to one model; replayed ones are none.

    Attributes:
        seconds: from asking to the answer, with all that a call waits for.
        answering: of that, from sending the request that was answered to the last byte.
        prompt: tokens read.
        completion: tokens written.
    """

    step: str
    model: str
    seconds: Spread
    answering: Spread
    prompt: Spread
    completion: Spread

    def __add__(self, other: "StepState") -> "StepState":
        """Put together the calls of two workers."""
        return StepState(
            step=self.step,
            model=self.model,
            seconds=self.seconds + other.seconds,
            answering=self.answering + other.answering,
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
        )


class ServerState(_State):
    """One server as its clients see it: what they had open and waiting at their last visit to the limiter.

    Attributes:
        width: calls that may be open at once.
        waits_for: what keeps those that wait, in the limiter's words.
    """

    server: str
    open: int
    waiting: int
    width: int
    waits_for: str

    def __add__(self, other: "ServerState") -> "ServerState":
        """Put together the parts of two workers."""
        return ServerState(
            server=self.server,
            open=self.open + other.open,
            waiting=self.waiting + other.waiting,
            width=self.width + other.width,
            waits_for=self.waits_for or other.waits_for,
        )


class JobState(_State):
    """A shard that a worker has in hand, and the job's own counters."""

    name: str
    counters: Mapping[str, int]


class WorkerLook(_State):
    """What a worker's process says of itself.

    Attributes:
        process: tells it from the one that took its place after a crash.
        finished: the counters of the jobs that it has brought to a good end, summed up.
        waits: how many calls and shards wait for what.
        oldest_s: seconds since the call was asked that has waited longest for its answer.
        failures: failed tries by model and kind, since the process began; likewise the calls in ``steps``.
    """

    process: str
    host: str
    pid: int
    jobs: tuple[JobState, ...]
    finished: Mapping[str, int]
    waits: Mapping[Waits, int]
    oldest_s: float
    servers: tuple[ServerState, ...]
    steps: tuple[StepState, ...]
    failures: Mapping[str, Mapping[str, int]]


class WorkerState(_State):
    """A worker, as the run sees it; one that does not answer has ``host`` and ``pid`` of when it last did."""

    index: int
    answers: bool
    host: str = ""
    pid: int = 0
    shards: tuple[str, ...] = ()
    waits: Mapping[Waits, int] = Field(default_factory=dict)
    oldest_s: float = 0.0


class ShardCounts(_State):
    """How many shards of the run's stage stand where; ``held``: by another process when the run began."""

    committed: int
    running: int
    waiting: int
    held: int = 0

    @property
    def total(self) -> int:
        """All that the run wants."""
        return self.committed + self.running + self.waiting + self.held


class Rates(_State):
    """What a second of the last minute has brought; a call is one that was answered, not replayed."""

    rows: float = 0.0
    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0


class Money(_State):
    """What the stage has cost and will; None where there is no limit, or nothing to project from."""

    spent_usd: float = 0.0
    projected_usd: float | None = None
    limit_usd: float | None = None


class RunState(_State):
    """A run of one stage of a data set.

    Attributes:
        owner: the process that leads it.
        written_at: its clock when it last said so; it does about every second.
        stopping: nothing new is begun, what is in flight may end.
        ended_at: when it ended, None while it runs or if it was killed.
        ended_with: the name of the error that ended it; empty where there was none.
        metrics_url: where Prometheus may ask while it runs.
        rows: to be made in this run, and what has become of those that are done, by outcome.
        eta_s: seconds to the end at the rate of the last minute; None where nothing was finished in it.
        still_s: seconds since a row was finished, or a call answered.
        shards: of the stage.
        shard_waits: shards that no worker has in hand, by what they wait for.
    """

    version: Literal[1] = 1
    dataset: str
    stage: str
    owner: Owner
    began_at: AwareDatetime
    written_at: AwareDatetime
    stopping: bool = False
    ended_at: AwareDatetime | None = None
    ended_with: str = ""
    metrics_url: str
    rows: int
    done: Mapping[str, int] = Field(default_factory=dict)
    eta_s: float | None = None
    still_s: float = 0.0
    rates: Rates = Rates()
    money: Money = Money()
    shards: ShardCounts
    shard_waits: Mapping[Waits, int] = Field(default_factory=dict)
    workers: tuple[WorkerState, ...] = ()
    servers: tuple[ServerState, ...] = ()
    steps: tuple[StepState, ...] = ()
    failures: Mapping[str, Mapping[str, int]] = Field(default_factory=dict)

    @property
    def finished(self) -> int:
        """Rows that are done, whatever has become of them."""
        return sum(self.done.values())


class Looks:
    """The latest word of every process that ever worked for a run, those that have died included."""

    def __init__(self) -> None:
        self._latest: dict[str, WorkerLook] = {}

    def add(self, look: WorkerLook) -> None:
        """Take in what a process says now."""
        self._latest[look.process] = look

    def finished(self) -> Counter[str]:
        """Sum up the counters of the jobs that have come to a good end."""
        sums: Counter[str] = Counter()
        for look in self._latest.values():
            sums.update(look.finished)
        return sums

    def steps(self) -> tuple[StepState, ...]:
        """Sum up the calls of all, by step and model."""
        sums: dict[tuple[str, str], StepState] = {}
        for look in self._latest.values():
            for step in look.steps:
                key = (step.step, step.model)
                sums[key] = sums[key] + step if key in sums else step
        return tuple(sums[key] for key in sorted(sums))

    def failures(self) -> dict[str, dict[str, int]]:
        """Sum up the failed tries of all, by model and kind."""
        sums: dict[str, dict[str, int]] = {}
        for look in self._latest.values():
            for model, kinds in look.failures.items():
                counts = sums.setdefault(model, {})
                for kind, count in kinds.items():
                    counts[kind] = counts.get(kind, 0) + count
        return sums


def servers_of(states: Iterable[ServerState]) -> tuple[ServerState, ...]:
    """Put together what several clients say of the same servers."""
    sums: dict[str, ServerState] = {}
    for state in states:
        sums[state.server] = sums[state.server] + state if state.server in sums else state
    return tuple(sums[server] for server in sorted(sums))


def sum_waits(waits: Iterable[Mapping[Waits, int]]) -> dict[Waits, int]:
    """Add up what is waited for."""
    sums: dict[Waits, int] = {}
    for each in waits:
        for reason, count in each.items():
            sums[reason] = sums.get(reason, 0) + count
    return sums
