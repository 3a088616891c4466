"""What the server itself does about runs whose process is gone: it says so.

A plain automation of Prefect: it is in the dashboard, and serves any worker of the server, on any machine.
"""

from typing import Any

from infra.stack.environment import HEARTBEAT_S
from infra.stack.prefect_api import PrefectApi

SILENT_S = 4 * HEARTBEAT_S  # a server that is started again, or a busy machine, must not look like a dead run
ENDED = (
    "Completed",
    "Failed",
    "Cancelled",
    "Cancelling",
    "Crashed",
    "Paused",
    "Suspended",
    "AwaitingRetry",
    "Scheduled",
)

ZOMBIES: dict[str, Any] = {
    "name": "privasis: a run that fell silent has crashed",
    "description": f"A run beats every {HEARTBEAT_S} s. One that has not for {SILENT_S} s has no process any more.",
    "enabled": True,
    "trigger": {
        "type": "event",
        "posture": "Proactive",
        "match": {"prefect.resource.id": ["prefect.flow-run.*"]},
        "for_each": ["prefect.resource.id"],
        "after": ["prefect.flow-run.heartbeat"],
        "expect": ["prefect.flow-run.heartbeat", *(f"prefect.flow-run.{name}" for name in ENDED)],
        "threshold": 1,
        "within": SILENT_S,
    },
    "actions": [
        {
            "type": "change-flow-run-state",
            "state": "CRASHED",
            "message": f"No heartbeat for {SILENT_S} s: its process is gone.",
        }
    ],
}


def register_automations(api: PrefectApi) -> None:
    """Make it, or bring it up to what this release says; where a person has switched it off, it stays off.

    Raises:
        ApiAway: no server answers.
        ApiRefused: it does not take it.
    """
    there = {each["name"]: each for each in api.post("/automations/filter", {"limit": 200})}
    known = there.get(ZOMBIES["name"])
    if known is None:
        api.post("/automations/", ZOMBIES)
    else:
        api.send("PUT", f"/automations/{known['id']}", ZOMBIES | {"enabled": known["enabled"]})
