"""Shard workers: long-lived actors that run the jobs a stage hands them, and the pool that deals the jobs out."""

import asyncio
import threading
from collections import Counter
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from infra.llm.limiter import Limiter, LocalLimiter
from infra.ray.cluster import ClusterUnusable
from infra.ray.job import Job, Shared, WorkerContext
from infra.ray.keeper import Keeper
from infra.ray.watched import WatchedKeeper, WatchedLimiter, WatchedShared
from infra.ray.watching import Watching
from infra.run_state import Waits, WorkerLook
from infra.shards.lease import LeaseHeld

R = TypeVar("R")
Counters = dict[str, int]  # of a job's own naming
Progress = dict[str, Counters]  # by job

DRAIN_S = 12.0  # for what is in flight when a run is told to stop; Prefect kills a run 30 s after it was cancelled
FLUSH_S = 5.0  # for a cancelled job to close its journal and give back its lease


class JobStopped(Exception):
    """The run was told to stop before this job was done; run it again and it goes on where it stopped."""


class WorkerDied(Exception):
    """The process that ran the job is gone; another takes its place. Try the job again."""


class ShardWorker:
    """The body of the actor: any number of jobs on one event loop. It knows no domain."""

    def __init__(self) -> None:
        self._shared = Shared()
        self._stopping = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._watching = Watching()

    async def run(self, name: str, job: Job[R], keeper: Keeper, limiter: Limiter) -> tuple[R, Counters]:
        """Run ``job`` to its end and return its receipt, and what its counters came to.

        Raises:
            JobStopped: the worker was told to stop.
            RuntimeError: a job of this name is running here.
        """
        if self._stopping.is_set():
            raise JobStopped(f"{name}: not started, the run is stopping")
        if name in self._tasks:
            raise RuntimeError(f"{name}: already runs in this worker; wait for it and try again")
        progress: Counter[str] = Counter()
        watch = self._watching.begin(name, progress)
        context = WorkerContext(
            WatchedKeeper(keeper, watch),
            self._stopping,
            progress,
            WatchedLimiter(limiter, self._watching),
            WatchedShared(self._shared, watch, self._watching),
        )
        task = asyncio.create_task(job(context))
        self._tasks[name] = task
        try:
            return await task, dict(progress)
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise
            raise JobStopped(f"{name}: stopped before its end; run it again and it goes on") from None
        finally:
            del self._tasks[name]
            self._watching.end(name, well=task.done() and not task.cancelled() and task.exception() is None)

    async def ready(self) -> None:
        """Answer, which means that the actor is up."""

    async def progress(self) -> Progress:
        """Return the counters of the jobs running now."""
        return self._watching.progress()

    async def look(self) -> WorkerLook:
        """Return what the jobs running now have done and wait for, and what the process has counted."""
        return self._watching.look()

    async def stop(self, drain_s: float) -> None:
        """Admit nothing more, give what runs ``drain_s`` to end, then cancel it; close what the jobs shared."""
        self._stopping.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=drain_s)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=FLUSH_S)
        await self._shared.close()


class WorkerPool:
    """Shard workers spread over the nodes of the connected cluster. Threads may use it at once; leaving it stops it."""

    def __init__(
        self,
        workers: int | Literal["cluster"],
        keeper: Keeper,
        limiter: Limiter | None = None,
        *,
        jobs_each: int = 1,
        ready_s: float = 120,
    ) -> None:
        """Start the workers and wait until they answer.

        Args:
            workers: how many processes; each takes one of the cluster's CPUs. "cluster" takes all that are free.
            keeper: handed to the jobs.
            limiter: likewise; without one, each worker has the servers to itself.
            jobs_each: how many jobs a worker runs at once.
            ready_s: how long a worker may take to start, or to start again.

        Raises:
            WorkerDied: a worker did not start.
        """
        import ray
        from ray.exceptions import GetTimeoutError, RayActorError

        # A dead worker is started again by Ray, but what it ran is not: that is for whoever submitted it to decide.
        workers = _free_cpus() if workers == "cluster" else workers
        actor = ray.remote(num_cpus=1, scheduling_strategy="SPREAD", max_restarts=-1, max_task_retries=0)(ShardWorker)
        self._workers: list[Any] = [actor.remote() for _ in range(workers)]
        # These go with each job: an actor's own arguments may be gone when Ray restarts it.
        self._keeper, self._limiter = keeper, limiter or LocalLimiter()
        self._jobs_each = jobs_each
        self._ready_s = ready_s
        self._load = [0] * workers
        self._idle_jobs: dict[str, Waits] = {}  # those that no worker has in hand, and what they wait for
        self._done = 0
        self._counted: Progress = {}  # counters of those that are done
        self._changed = threading.Condition()  # guards these and _stopping
        self._stopping = False
        self._ending = threading.Lock()  # held by the thread that ends the workers
        self._ended = False
        try:
            ray.get([worker.ready.remote() for worker in self._workers], timeout=ready_s)
        except (RayActorError, GetTimeoutError) as error:
            self.stop(drain_s=0)
            raise WorkerDied(
                f"not all of {workers} workers started within {ready_s:g} s; each needs a CPU of the cluster: {error}"
            ) from error

    def submit(self, name: str, job: Job[R]) -> R:
        """Run ``job`` on the least busy worker, wait until it is done, and return its receipt.

        Args:
            name: the job's, for progress and errors; unique among those running.
            job: see ``Job``.

        Raises:
            WorkerDied: the worker's process died, or was not started again in time.
            ClusterUnusable: the worker is dead for good, because what starts workers is dead.
            JobStopped: the pool was stopped before the job was done.
            Exception: whatever the job raises.
        """
        import ray
        from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError

        index = self._take(name)
        end: Waits | Counters = "another attempt"
        try:
            self._wait_until_ready(name, index)
            receipt: R
            receipt, end = ray.get(self._workers[index].run.remote(name, job, self._keeper, self._limiter))
        except RayTaskError as error:
            end = "lease" if isinstance(error.cause, LeaseHeld) else end
            raise error.cause from error
        except (RayActorError, GetTimeoutError) as error:
            if self._stopping:
                raise JobStopped(f"{name}: did not end in time and was cut off; run it again and it goes on") from error
            raise WorkerDied(f"{name}: worker {index} died: {error}") from error
        finally:
            self._give_back(index, name, end)
        return receipt

    def progress(self, timeout_s: float = 1.0) -> Progress:
        """Return the counters of all jobs that are done or run now.

        Of those that run, the ones of a worker that does not answer in time are missing.
        """
        answers: list[Progress | None] = self._ask("progress", timeout_s)
        running = {name: counters for progress in answers for name, counters in (progress or {}).items()}
        with self._changed:
            return self._counted | running

    def looks(self, timeout_s: float = 1.0) -> list[WorkerLook | None]:
        """Return what each worker says of itself; None of one that does not answer in time."""
        return self._ask("look", timeout_s)

    @property
    def stopping(self) -> bool:
        """Whether it begins nothing new."""
        return self._stopping

    def jobs(self) -> tuple[int, int, dict[Waits, int]]:
        """Return how many jobs are done, how many workers have in hand, and what the others wait for."""
        with self._changed:
            return self._done, sum(self._load), dict(Counter(self._idle_jobs.values()))

    def stop(self, drain_s: float = DRAIN_S) -> None:
        """End the workers: no new jobs, ``drain_s`` for those running, then cancel them. Returns when all is over."""
        import ray

        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        with self._ending:
            if self._ended:
                return
            stopped = [worker.stop.remote(drain_s) for worker in self._workers]
            ray.wait(stopped, num_returns=len(stopped), timeout=drain_s + 2 * FLUSH_S)
            for worker in self._workers:
                ray.kill(worker)
            self._ended = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _ask(self, method: str, timeout_s: float) -> list[Any]:
        import ray
        from ray.exceptions import RayActorError

        asked = [getattr(worker, method).remote() for worker in self._workers]
        answered = set(ray.wait(asked, num_returns=len(asked), timeout=timeout_s)[0])
        found: list[Any] = []
        for answer in asked:
            try:
                found.append(ray.get(answer) if answer in answered else None)
            except RayActorError:  # it died a moment ago: whoever waits for its jobs is told
                found.append(None)
        return found

    def _wait_until_ready(self, name: str, index: int) -> None:
        """Wait for a worker that may be starting again, and then refuses calls.

        Raises:
            GetTimeoutError: it did not start in time. It may never, and a call would hang.
            ClusterUnusable: it is dead for good. Ray starts a dead worker again as long as Ray itself is well.
        """
        import ray
        from ray.exceptions import RayActorError

        try:
            ray.get(self._workers[index].ready.options(max_task_retries=-1).remote(), timeout=self._ready_s)
        except RayActorError as error:
            if self._stopping:
                raise
            raise ClusterUnusable(f"{name}: worker {index} is dead and Ray cannot start it again: {error}") from error

    def _take(self, name: str) -> int:
        with self._changed:
            self._idle_jobs[name] = "worker"
            self._changed.wait_for(lambda: self._stopping or min(self._load) < self._jobs_each)
            if self._stopping:
                raise JobStopped(f"{name}: not started, the run is stopping")
            index = self._load.index(min(self._load))
            self._load[index] += 1
            del self._idle_jobs[name]
            return index

    def _give_back(self, index: int, name: str, end: Waits | Counters) -> None:
        """Note what became of a job: the counters of one that is done, or what another waits for."""
        with self._changed:
            self._load[index] -= 1
            if isinstance(end, dict):
                self._done += 1
                self._counted[name] = end
            else:
                self._idle_jobs[name] = end
            self._changed.notify_all()


def _free_cpus() -> int:
    import ray

    return max(1, int(ray.available_resources().get("CPU", 0)))  # type: ignore[no-untyped-call]
