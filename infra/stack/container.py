"""``python -m infra.stack.container PART``: one part of a stack a container, with the settings of ``privasis up``.

``deploy/compose`` and the chart in ``deploy/k8s`` say where the parts are; how each runs is said once,
in ``infra.stack.environment``. What the container's own environment sets goes first.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from infra.stack.automations import register_automations
from infra.stack.config import LOOPBACK
from infra.stack.environment import SERVER, WORKER
from infra.stack.logs import say
from infra.stack.pools import make_pools
from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi
from infra.stack.registration import RegistrationFailed, deploy, read_deployments
from infra.stack.serving import serve

PROJECT = Path(__file__).parents[2]
TEMPLATES = PROJECT / "deploy" / "work-pools"
DEPLOYMENTS = PROJECT / "deploy" / "prefect.yaml"
SERVER_WITHIN_S = 300.0  # a new database is brought up to date first


def server_command(port: int) -> list[str]:
    """Return the Prefect server's; it listens at every address of its container."""
    app = ["--factory", "infra.prefect_pages:create_app", "--log-level", "warning"]
    ends = ["--timeout-graceful-shutdown", "3", "--timeout-keep-alive", "5"]
    return [sys.executable, "-m", "uvicorn", *app, "--host", "0.0.0.0", "--port", str(port), *ends]


def worker_command(pool: str, kind: str, runs: int) -> list[str]:
    """Return a worker's for one pool; it answers at port 8080 whether it lives."""
    which = ["--pool", pool, "--type", kind, "--no-create-pool-if-not-found", "--limit", str(runs)]
    return [sys.executable, "-m", "prefect", "--no-prompt", "worker", "start", "--with-healthcheck", *which]


def with_defaults(template: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return a work pool's job template in which the variables named in ``defaults`` have those.

    Raises:
        RegistrationFailed: it has no such variable.
    """
    variables: dict[str, dict[str, Any]] = template["variables"]["properties"]
    if unknown := sorted(defaults.keys() - variables.keys()):
        raise RegistrationFailed(f"the job template has no {', '.join(unknown)}; it has {', '.join(sorted(variables))}")
    changed = {name: each | {"default": defaults.get(name, each.get("default"))} for name, each in variables.items()}
    return template | {"variables": template["variables"] | {"properties": changed}}


def on_pool(deployments: dict[str, Any], pool: str) -> dict[str, Any]:
    """Return the content of a ``prefect.yaml`` with all its deployments on ``pool``."""
    moved = [each | {"work_pool": each.get("work_pool", {}) | {"name": pool}} for each in deployments["deployments"]]
    return deployments | {"deployments": moved}


def register(api: PrefectApi, pool: str, defaults: dict[str, Any]) -> None:
    """Tell a server that has just been set up, or brought up to date, what it has to know.

    Args:
        api: of the server.
        pool: where runs go: ``process``, ``docker`` or ``kubernetes``.
        defaults: of the pool's job variables; given, they replace what the pool has.

    Raises:
        RegistrationFailed: the server or ``prefect deploy`` refused something.
    """
    try:
        _wait_for(api)
        make_pools(api, TEMPLATES)
        if defaults:
            template = json.loads((TEMPLATES / f"{pool}.json").read_text(encoding="utf-8"))
            api.send("PATCH", f"/work_pools/{pool}", {"base_job_template": with_defaults(template, defaults)})
        register_automations(api)
    except (ApiAway, ApiRefused) as error:
        raise RegistrationFailed(f"the Prefect server does not take our pools or automations: {error}") from error
    log = Path(tempfile.gettempdir()) / "privasis-deploy.log"
    deploy(api, on_pool(read_deployments(DEPLOYMENTS), pool), PROJECT, dict(os.environ), log)


def _wait_for(api: PrefectApi) -> None:
    end = time.monotonic() + SERVER_WITHIN_S
    while not api.is_up():
        if time.monotonic() > end:
            raise RegistrationFailed(f"{api.url} does not answer, or refuses PREFECT_API_AUTH_STRING")
        time.sleep(2)


def _set(name: str) -> str:
    if not (value := os.environ.get(name)):
        raise SystemExit(f"{name} is not set: see deploy/compose/compose.yaml for what this part needs")
    return value


def main() -> None:
    """Become the part, be the server's parent, or register and end."""
    parser = argparse.ArgumentParser(prog="python -m infra.stack.container", description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("server").add_argument("--port", type=int, default=4200)
    for name in ("worker", "register"):
        part = parts.add_parser(name)
        part.add_argument("--pool", default="process")
    parts.choices["worker"].add_argument("--runs", type=int, default=4, help="flow runs at once")
    parts.choices["register"].add_argument("--defaults", type=json.loads, default={}, help="JSON, of the job variables")
    asked = parser.parse_args()
    if asked.part == "server":
        os.environ.update(SERVER | os.environ)
        api = PrefectApi(f"http://{LOOPBACK}:{asked.port}/api", _set("PREFECT_API_AUTH_STRING"))
        raise SystemExit(serve(server_command(asked.port), api, say))
    if asked.part == "worker":
        os.environ.update(WORKER | os.environ)
        os.execv(sys.executable, worker_command(asked.pool, asked.pool, asked.runs))
    try:
        api = PrefectApi(_set("PREFECT_API_URL"), _set("PREFECT_API_AUTH_STRING"))
        register(api, asked.pool, asked.defaults)
    except RegistrationFailed as error:
        raise SystemExit(f"register: {error}") from error


if __name__ == "__main__":
    main()
