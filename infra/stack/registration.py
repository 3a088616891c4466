"""What a server has to know before the first run: pools, the automation, deployments."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from infra.stack.automations import register_automations
from infra.stack.config import StackConfig
from infra.stack.pools import make_pools
from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi
from infra.stack.switches import as_switched

_DEPLOY_WITHIN_S = 900  # some twenty flows are imported


class RegistrationFailed(Exception):
    """The server does not know what it has to; the message says why."""


def register(api: PrefectApi, config: StackConfig, environment: dict[str, str], log: Path) -> None:
    """Make pools and the automation, and deploy what the project's file names, as ``prefect deploy --all`` does.

    What a person has switched on or off in the dashboard stays so.

    Args:
        api: of the stack's server.
        config: names the project and its file of deployments.
        environment: of the worker, in which ``prefect deploy`` runs.
        log: file that gets what ``prefect deploy`` prints.

    Raises:
        RegistrationFailed: the server or Prefect's command refused something.
    """
    try:
        make_pools(api, config.project / "deploy" / "work-pools")
        register_automations(api)
    except (ApiAway, ApiRefused) as error:
        raise RegistrationFailed(f"the Prefect server does not take our pools or our automation: {error}") from error
    if config.deployments is not None:
        deploy(api, read_deployments(config.deployments), config.project, environment, log)


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


def deploy(api: PrefectApi, content: dict[str, Any], project: Path, environment: dict[str, str], log: Path) -> None:
    """Run ``prefect deploy --all`` in ``project``, with all that the server knows switched on or off as it is there.

    Args:
        api: of the server.
        content: of a ``prefect.yaml``.
        project: folder that entrypoints are relative to.
        environment: of the command; it names the server, too.
        log: file that gets what the command prints.

    Raises:
        RegistrationFailed: it ends with an error, or not in time.
    """
    try:
        switched = as_switched(content, api)
    except (ApiAway, ApiRefused) as error:
        raise RegistrationFailed(f"the Prefect server does not say what is switched on: {error}") from error
    with tempfile.TemporaryDirectory(prefix="privasis-") as folder:
        file = Path(folder) / "prefect.yaml"
        file.write_text(yaml.safe_dump(switched, sort_keys=False), encoding="utf-8")
        _deploy(file, project, environment, log)


def _deploy(file: Path, project: Path, environment: dict[str, str], log: Path) -> None:
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(file)]
    with log.open("wb") as sink:
        try:
            status = subprocess.run(
                command,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                timeout=_DEPLOY_WITHIN_S,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired as error:
            raise RegistrationFailed(f"`prefect deploy` took more than {_DEPLOY_WITHIN_S} s: see {log}") from error
    if status != 0:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
        raise RegistrationFailed(f"`prefect deploy --all` exited with {status}:\n{tail}")
