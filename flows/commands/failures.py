"""What went wrong with which shard of a flow: Prefect raises the first error only, a person wants every reason once."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from prefect import Task
from prefect.client.schemas.objects import State, TaskRun

from flows.commands.errors import Code, RunFailed, code_of, message_of
from flows.commands.wording import counted
from infra.ray.worker import JobStopped

_AGAIN = "What is done is kept, what was answered is not asked again: run the same command again and it goes on."


@dataclass
class Failures:
    """Errors of shards, as they come in."""

    errors: dict[str, BaseException] = field(default_factory=dict)

    def note(self, task: Task[..., Any], run: TaskRun, state: State[Any]) -> None:
        """Take in the failure of a task run that is called after its shard; a hook of the task."""
        error = state.result(raise_on_failure=False)
        if isinstance(error, BaseException):
            self.errors[run.name] = error

    def told(self, shards: int) -> RunFailed | None:
        """Put all errors into one; None where there is none, or a bug that needs its traceback.

        Args:
            shards: how many there were to be made.
        """
        codes = {code_of(error) for error in self.errors.values()}
        if not codes or None in codes:
            return None
        stopped = sum(isinstance(error, JobStopped) for error in self.errors.values())
        failed = {shard: error for shard, error in self.errors.items() if not isinstance(error, JobStopped)}
        of_all = f"of {counted(shards, 'shard')}"
        if not failed:
            return RunFailed(f"stopped, with {stopped:,} {of_all} unfinished. {_AGAIN}", Code.OUTSIDE)
        reasons = Counter(message_of(error).removeprefix(f"{shard}: ") for shard, error in failed.items())
        lines = [
            f"{len(failed):,} {of_all} failed" + (f", {stopped:,} stopped because of that" if stopped else "") + ":"
        ]
        lines += [f"  {shards_of_it} x {reason}" for reason, shards_of_it in reasons.most_common()]
        damaged = Code.DAMAGE in codes
        return RunFailed("\n".join([*lines, _AGAIN]), Code.DAMAGE if damaged else Code.OUTSIDE)
