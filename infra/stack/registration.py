"""What a server has to know before the first run: pools, the automation, deployments."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from infra.stack.automations import register_automations
from infra.stack.config import StackConfig
from infra.stack.pools import LOCAL_POOL, make_pools
from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi
from infra.stack.switches import as_switched

IN_IMAGE = "/app"  # where our images have the project
_DEPLOY_WITHIN_S = 900  # some twenty flows are imported
_LOOK_S = 0.2
_ENDED_WITHIN_S = 10


class RegistrationFailed(Exception):
    """The server does not know what it has to; the message says why."""


def never() -> bool:
    """Go on."""
    return False


def register(
    api: PrefectApi, config: StackConfig, environment: dict[str, str], log: Path, given_up: Callable[[], bool] = never
) -> None:
    """Make pools and the automation, and deploy what the project's file names, as ``prefect deploy --all`` does.

    What a person has switched on or off in the dashboard stays so.

    Args:
        api: of the stack's server.
        config: names the project and its file of deployments.
        environment: of the worker, in which ``prefect deploy`` runs.
        log: file that gets what ``prefect deploy`` prints.
        given_up: asked again and again, for it takes minutes; once it says so, the command is ended without an error.

    Raises:
        RegistrationFailed: the server or Prefect's command refused something.
    """
    try:
        make_pools(api, config.project / "deploy" / "work-pools")
        register_automations(api)
    except (ApiAway, ApiRefused) as error:
        raise RegistrationFailed(f"the Prefect server does not take our pools or our automation: {error}") from error
    if config.deployments is not None:
        deploy(api, read_deployments(config.deployments), config.project, environment, log, given_up)


def read_deployments(file: Path) -> dict[str, Any]:
    """Return the content of a ``prefect.yaml``.

    Raises:
        RegistrationFailed: it is none.
    """
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise RegistrationFailed(f"{file} is no YAML: {error}") from error
    if not isinstance(content, dict):
        raise RegistrationFailed(f"{file} has no `deployments`: see deploy/prefect.yaml for what one looks like")
    return content


def found_by_runs(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a ``prefect.yaml`` whose runs look for our code where their work pool has it.

    That is the folder of ``prefect deploy`` for processes of the same machine, which is Prefect's own default; a
    container of our images has no such folder. What says by itself where to look is left as it is.
    """
    step = {"prefect.deployments.steps.set_working_directory": {"directory": IN_IMAGE}}
    deployments = content.get("deployments") or []
    if content.get("pull") is not None:
        return content
    return content | {
        "deployments": [
            each if each.get("pull") is not None or _pool_of(each) == LOCAL_POOL else each | {"pull": [step]}
            for each in deployments
        ]
    }


def _pool_of(deployment: dict[str, Any]) -> str:
    return str((deployment.get("work_pool") or {}).get("name", LOCAL_POOL))


def deploy(
    api: PrefectApi,
    content: dict[str, Any],
    project: Path,
    environment: dict[str, str],
    log: Path,
    given_up: Callable[[], bool] = never,
) -> None:
    """Run ``prefect deploy --all`` in ``project``, with all that the server knows switched on or off as it is there.

    Args:
        api: of the server.
        content: of a ``prefect.yaml``.
        project: folder that entrypoints are relative to.
        environment: of the command; it names the server, too.
        log: file that gets what the command prints.
        given_up: asked again and again; once it says so, the command is ended, and nothing raised.

    Raises:
        RegistrationFailed: it ends with an error, or not in time.
    """
    try:
        switched = as_switched(found_by_runs(content), api)
    except (ApiAway, ApiRefused) as error:
        raise RegistrationFailed(f"the Prefect server does not say what is switched on: {error}") from error
    with tempfile.TemporaryDirectory(prefix="privasis-") as folder:
        file = Path(folder) / "prefect.yaml"
        file.write_text(yaml.safe_dump(switched, sort_keys=False), encoding="utf-8")
        _deploy(file, project, environment, log, given_up)


def _deploy(file: Path, project: Path, environment: dict[str, str], log: Path, given_up: Callable[[], bool]) -> None:
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(file)]
    with (
        log.open("wb") as sink,
        subprocess.Popen(
            command, cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
        ) as process,
    ):
        until = time.monotonic() + _DEPLOY_WITHIN_S
        while (status := process.poll()) is None:
            if given_up():
                _end(process)
                return
            if time.monotonic() > until:
                _end(process)
                raise RegistrationFailed(f"`prefect deploy` took more than {_DEPLOY_WITHIN_S} s: see {log}")
            time.sleep(_LOOK_S)
    if status != 0:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
        raise RegistrationFailed(f"`prefect deploy --all` exited with {status}:\n{tail}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_ENDED_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
