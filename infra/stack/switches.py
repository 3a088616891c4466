"""What the operator has switched on or off in the dashboard: ``prefect deploy`` alone would set it as the file says.

What a server does not know yet is as the file says. Afterwards the dashboard has the last word, whatever the file says.
"""

from collections.abc import Mapping
from typing import Any

from infra.stack.prefect_api import PrefectApi


def as_switched(content: dict[str, Any], api: PrefectApi) -> dict[str, Any]:
    """Return the content of a ``prefect.yaml`` in which all that the server knows is on or off as it is there.

    Deployments are told by name and entrypoint (the flow's name is known only to those who import it), their
    schedules by slug, their triggers by name.

    Raises:
        ApiAway: no server answers.
        ApiRefused: it answers with an error.
    """
    there = {(each["name"], each["entrypoint"]): each for each in api.deployments()}
    wanted = content.get("deployments") or []
    return content | {
        "deployments": [
            _switched(each, known, api) if (known := there.get((each.get("name"), each.get("entrypoint")))) else each
            for each in wanted
        ]
    }


def _switched(wanted: dict[str, Any], known: dict[str, Any], api: PrefectApi) -> dict[str, Any]:
    changed = wanted | {"paused": known["paused"]}
    if schedules := wanted.get("schedules"):
        active = {each["slug"]: each["active"] for each in known["schedules"] if each["slug"]}
        changed["schedules"] = [_with(each, "active", active.get(each.get("slug"))) for each in schedules]
    if triggers := wanted.get("triggers"):
        enabled = _enabled(known["id"], api)
        changed["triggers"] = [
            _with(each, "enabled", enabled.get(each.get("name", f"{wanted['name']}__automation_{number}")))
            for number, each in enumerate(triggers, start=1)  # as Prefect names those without a name
        ]
    return changed


def _enabled(deployment: str, api: PrefectApi) -> Mapping[str, bool]:
    """Return which automations a deployment has, by name, and whether each is on."""
    related = api.get(f"/automations/related-to/prefect.deployment.{deployment}")
    return {each["name"]: each["enabled"] for each in related}


def _with(item: dict[str, Any], name: str, value: bool | None) -> dict[str, Any]:
    return item if value is None else item | {name: value}
