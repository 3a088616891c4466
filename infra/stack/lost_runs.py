"""Flow runs that the server believes to be under way, and whose process is gone with the worker that had started it.

The heartbeats of runs tell the same, minutes later, wherever they run; here, on the machine itself, one can look.
"""

import psutil

from infra.stack.prefect_api import PrefectApi
from infra.stack.processes import environment_of

FLOW_RUN = "PREFECT__FLOW_RUN_ID"  # what Prefect starts the process of a run with

# A run that never began is simply due again: an automation picks up those that did.
_BECOMES = {"RUNNING": "CRASHED", "PENDING": "SCHEDULED", "CANCELLING": "CANCELLED"}
UNDER_WAY = tuple(_BECOMES)


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
        api.set_state(run["id"], _BECOMES[run["state_type"]], "Its worker died, and its process with it.", force=True)
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
