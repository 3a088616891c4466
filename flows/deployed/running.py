"""How a deployment's run of a stage ends: as the stage does, in one message, or as cancelled."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from prefect import Task
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Crashed

from flows.artifacts.run import UNHEARD, is_being_cancelled
from flows.budget import BudgetSpent
from flows.commands.errors import EXPECTED, Code, RunFailed
from flows.commands.failures import Failures
from infra.ray.worker import JobStopped

logger = logging.getLogger(__name__)

R = TypeVar("R")


def in_order(work: Callable[[], R]) -> R | State[Any]:
    """Do work that runs flows of ours, and return what it returns, or that the run was cancelled.

    Stages that run on workers take the signal that ends a process for themselves, to drain in order: Prefect, which
    knows of its own handler only, has to be told how the run ended.
    """
    try:
        return work()
    except EXPECTED as error:
        if _cancelled_meanwhile(error):
            return Cancelled(message="Stopped in order: what is finished is kept, a new run goes on from there.")
        raise


def _cancelled_meanwhile(error: Exception) -> bool:
    try:
        return is_being_cancelled()
    except UNHEARD as unheard:  # what ended the run is what a person has to read
        logger.warning("whether the run was cancelled when it failed (%s), Prefect does not say: %s", error, unheard)
        return False


def carry_out(
    work: Callable[[], R], shard_tasks: Sequence[Task[..., Any]], shards: int | None = None
) -> R | State[Any]:
    """Do the work of stages, and return what it returns, or the state that the run ends in when it was stopped.

    Args:
        work: calls them.
        shard_tasks: the task of each that makes one shard.
        shards: that are to be made; None where nobody knows before.

    Raises:
        BudgetSpent: the run has cost what it may.
        RunFailed: shards did not get done; the message has every reason once.
    """
    failures = Failures()
    for shard_task in shard_tasks:
        shard_task.on_failure(failures.note)
    try:
        return in_order(work)
    except BudgetSpent:
        raise
    except EXPECTED as error:
        told = failures.told(len(failures.errors) if shards is None else shards)
        if (isinstance(error, JobStopped) or isinstance(error.__cause__, JobStopped)) and _only_stopped(failures):
            # Not the run's fault: as after a crash, whoever watches over the runs starts it again.
            return Crashed(message=f"The process was told to end. {told or error}")
        raise told or error from error


def _only_stopped(failures: Failures) -> bool:
    return all(isinstance(error, JobStopped) for error in failures.errors.values())


def expect_some(shards: int, what: str) -> None:
    """Refuse a run that has nothing to work on.

    Raises:
        RunFailed: so it is.
    """
    if not shards:
        raise RunFailed(what, Code.USAGE)
