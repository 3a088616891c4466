"""What the server does about runs whose process is gone: says so, and has them picked up again, at most twice.

Both are plain automations of Prefect: they are in the dashboard, and serve any worker of the server, not only ours.
"""

from typing import Any

from infra.stack.environment import HEARTBEAT_S
from infra.stack.prefect_api import PrefectApi

SILENT_S = 4 * HEARTBEAT_S  # a server that is started again, or a busy machine, must not look like a dead run
ATTEMPTS = 3
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
OF_DEPLOYMENTS = {"prefect.resource.role": "deployment"}  # nobody can pick up a run that a person started by hand

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

PICK_UP: dict[str, Any] = {
    "name": "privasis: a run that crashed is picked up again",
    "description": f"What is finished is not made again. After {ATTEMPTS} attempts it stays crashed.",
    "enabled": True,
    "trigger": {
        "type": "event",
        "posture": "Reactive",
        "match": {
            "prefect.resource.id": "prefect.flow-run.*",
            "prefect.run-count": [str(attempt) for attempt in range(1, ATTEMPTS)],
        },
        "match_related": OF_DEPLOYMENTS,
        "for_each": ["prefect.resource.id"],
        "expect": ["prefect.flow-run.Crashed"],
        "threshold": 1,
        "within": 0,
    },
    "actions": [
        {
            "type": "change-flow-run-state",
            "state": "SCHEDULED",
            "name": "AwaitingRetry",
            "message": "It crashed: picked up again, without what is finished.",
            "force": True,
        }
    ],
}


def register_automations(api: PrefectApi) -> None:
    """Make both, or bring them up to what this release says; one that a person has switched off stays off.

    Raises:
        ApiAway: no server answers.
        ApiRefused: it does not take one.
    """
    there = {each["name"]: each for each in api.post("/automations/filter", {"limit": 200})}
    for automation in (ZOMBIES, PICK_UP):
        known = there.get(automation["name"])
        if known is None:
            api.post("/automations/", automation)
        else:
            api.send("PUT", f"/automations/{known['id']}", automation | {"enabled": known["enabled"]})
