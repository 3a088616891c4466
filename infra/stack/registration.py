"""What a server has to know before the first run: pools, the automation, deployments."""

import subprocess
import sys
from pathlib import Path

from infra.stack.automations import register_automations
from infra.stack.config import StackConfig
from infra.stack.pools import make_pools
from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi

_DEPLOY_WITHIN_S = 900  # some twenty flows are imported


class RegistrationFailed(Exception):
    """The server does not know what it has to; the message says why."""


def register(api: PrefectApi, config: StackConfig, environment: dict[str, str], log: Path) -> None:
    """Make pools and the automation, and deploy what the project's file names, as ``prefect deploy --all`` does.

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
        deploy(config.deployments, config.project, environment, log)


def deploy(file: Path, project: Path, environment: dict[str, str], log: Path) -> None:
    """Run ``prefect deploy --all`` for ``file`` in ``project``, and write what it prints to ``log``.

    Raises:
        RegistrationFailed: it ends with an error, or not in time.
    """
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
        raise RegistrationFailed(f"`prefect deploy --all --prefect-file {file}` exited with {status}:\n{tail}")
