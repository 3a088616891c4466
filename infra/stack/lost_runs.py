"""Flow runs that do not end by themselves any more: their process is gone, or the stack goes down.

That a process is gone, the heartbeats of runs tell as well, minutes later, wherever they run; here, on the machine
itself, one can look. What has crashed is picked up again: what is finished is not made again, so that costs little.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import psutil

from infra.stack.prefect_api import PrefectApi
from infra.stack.processes import environment_of

FLOW_RUN = "PREFECT__FLOW_RUN_ID"  # what Prefect starts the process of a run with

# A run that never began is simply due again; one that did is picked up as one that crashed.
_BECOMES = {"RUNNING": "CRASHED", "PENDING": "SCHEDULED", "CANCELLING": "CANCELLED"}
UNDER_WAY = tuple(_BECOMES)
ATTEMPTS = 3
SETTLED = timedelta(seconds=30)  # what a run has said at its end has reached the server by then
WORKER_DIED = "Its worker died, and its process with it."
# A worker tells of a crash twice, the second time when it has cleared up; that must not hit the next attempt.
CLEARED_UP = timedelta(seconds=30)
RECENT = timedelta(minutes=10)  # older ones were seen, and left, by whoever looked after them then


def settle_lost_runs(api: PrefectApi, pool: str) -> int:
    """Tell the server what became of the runs of ``pool`` that no process of this machine works on.

    Only while no worker serves the pool: one that does may be about to start such a process.

    Returns:
        how many there were.

    Raises:
        ApiAway: no server answers; ask again.
        ApiRefused: it answers with an error.
    """
    runs = api.flow_runs(pool, UNDER_WAY)
    if not runs:
        return 0
    alive = {environment_of(each).get(FLOW_RUN) for each in psutil.process_iter()}
    lost = [run for run in runs if run["id"] not in alive]
    for run in lost:
        api.set_state(run["id"], _BECOMES[run["state_type"]], WORKER_DIED, force=True)
    return len(lost)


def cancel_runs(api: PrefectApi, pool: str) -> int:
    """Ask every run of ``pool`` that is under way to end, and return how many have not yet.

    Raises:
        ApiAway: no server answers.
        ApiRefused: it answers with an error.
    """
    runs = api.flow_runs(pool, UNDER_WAY)
    for run in runs:
        if run["state_type"] != "CANCELLING":
            api.set_state(run["id"], "CANCELLING", "The stack goes down: retry the run when it is up again.")
    return len(runs)


def look_after_runs(api: PrefectApi, say: Callable[[str], None]) -> None:
    """Pick up what has crashed and close what nobody closes any more; whoever is up beside a server does it each round.

    Raises:
        ApiAway: no server answers.
        ApiRefused: it answers with an error.
    """
    if picked := pick_up_crashed(api):
        say(f"{picked} runs had crashed, and are picked up again")
    if settled := settle_task_runs(api):
        say(f"{settled} task runs had ended without a word, and are told to have crashed")


def pick_up_crashed(api: PrefectApi) -> int:
    """Schedule the runs of deployments that crashed a short while ago, and return how many; each at most twice.

    One that crashed while it was being cancelled is told to be cancelled.

    Raises:
        ApiAway: no server answers.
        ApiRefused: it answers with an error.
    """
    picked, now = 0, datetime.now(UTC)
    for run in api.crashed(since=now - RECENT):
        crashed_at = datetime.fromisoformat(run["state"]["timestamp"])
        if now - crashed_at < CLEARED_UP and run["state"]["message"] != WORKER_DIED:
            continue
        states = [state["type"] for state in api.get(f"/flow_run_states/?flow_run_id={run['id']}")]
        if was_being_cancelled(states):
            api.set_state(run["id"], "CANCELLED", "It was being cancelled when it crashed.", force=True)
        elif run["deployment_id"] is not None and (crashes := crashes_of(states)) < ATTEMPTS:
            message = f"Attempt {crashes} of {ATTEMPTS} crashed: what is finished is not made again."
            api.set_state(run["id"], "SCHEDULED", message, name="AwaitingRetry", force=True)
            picked += 1
    return picked


def settle_task_runs(api: PrefectApi) -> int:
    """Close the task runs of which nobody says any more that they ended, and return how many.

    They tell their states by events; what the server had not written down when it was killed is lost, and so is what a
    killed process had not said. Their flow run, which has ended, tells how it went.

    Raises:
        ApiAway: no server answers.
        ApiRefused: it answers with an error.
    """
    lost = api.open_task_runs(ended_before=datetime.now(UTC) - SETTLED)
    for task_run in lost:
        state = {"type": "CRASHED", "name": "Crashed", "message": "Nobody told how it ended; its flow run has."}
        api.post(f"/task_runs/{task_run['id']}/set_state", {"state": state, "force": True})
    return len(lost)


def was_being_cancelled(states: Sequence[str]) -> bool:
    """Tell from the types of a run's states, the oldest first, whether its last attempt was to be cancelled."""
    attempt = states[len(states) - 1 - states[::-1].index("RUNNING") :] if "RUNNING" in states else states
    return "CANCELLING" in attempt


def crashes_of(states: Sequence[str]) -> int:
    """Count how often a run crashed, from the types of its states; one that never began to run counts, too."""
    return sum(state == "CRASHED" and before != "CRASHED" for before, state in zip(["", *states], states, strict=False))
