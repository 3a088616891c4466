"""The parts of a stack: how each is started, and how one knows that it is ready."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import psutil

from infra.stack.config import LOOPBACK, StackConfig
from infra.stack.environment import ray_environment, server_environment, worker_environment
from infra.stack.folder import StackFolder
from infra.stack.pools import LOCAL_POOL
from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi
from infra.stack.ray_head import head_command, head_serves

SERVER, RAY, WORKER = "server", "ray", "worker"


@dataclass(frozen=True)
class Part:
    """One process that is started, watched and started again.

    Attributes:
        environment: the whole of it; secrets go here, never into the command.
        is_ready: asked again and again after the start.
        signals: how often it is told to end; Prefect's worker goes on with its runs until the second time.
        grace_s: from each of them to the next, and to SIGKILL.
        tries: how many of the stack's first starts may fail before it is given up.
    """

    name: str
    address: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    folder: Path
    log: Path
    is_ready: Callable[[psutil.Process], bool]
    grace_s: float
    signals: int = 1
    tries: int = 1

    def start(self) -> subprocess.Popen[bytes]:
        """Start it in a session of its own, so that Ctrl-C in a terminal is for the supervisor alone."""
        descriptor = os.open(self.log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "ab") as sink:
            return subprocess.Popen(
                self.command,
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )


def parts_of(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> tuple[Part, ...]:
    """Return the parts in the order in which they are started; each needs those before it."""
    head = () if config.ray_address else (_ray(config, mark, inherited),)
    return (_server(config, mark, inherited), *head, _worker(config, mark, inherited))


def api_of(config: StackConfig) -> PrefectApi:
    """Return the API of a stack's server."""
    return PrefectApi(config.api_url, StackFolder(config.home).auth_string())


def worker_name(config: StackConfig) -> str:
    """Return what the worker is called in the dashboard."""
    return f"privasis-{config.port}"


def _server(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> Part:
    app = ("--factory", "infra.prefect_pages:create_app")
    listens = ("--host", LOOPBACK, "--port", str(config.port))
    # Somebody's browser may hold a connection: it is not waited for.
    ends = ("--timeout-graceful-shutdown", "3", "--timeout-keep-alive", "5")
    return Part(
        name=SERVER,
        address=config.url,
        command=(sys.executable, "-m", "uvicorn", *app, *listens, *ends, "--log-level", "warning"),
        environment=server_environment(config, mark, inherited),
        folder=config.home,
        log=StackFolder(config.home).logs / "server.log",
        is_ready=lambda _: api_of(config).is_up(),
        grace_s=15,
    )


def _ray(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> Part:
    return Part(
        name=RAY,
        address=config.ray_head,
        command=head_command(config),
        environment=ray_environment(config, mark, inherited),
        folder=config.home,
        log=StackFolder(config.home).logs / "ray.log",
        is_ready=lambda _: head_serves(config),
        tries=3,  # Ray gives itself half a minute, which is too little for a machine that has much else to do
        grace_s=15,
    )


def _worker(config: StackConfig, mark: str, inherited: Mapping[str, str]) -> Part:
    name = worker_name(config)
    pool = ("--pool", LOCAL_POOL, "--type", "process", "--no-create-pool-if-not-found")
    return Part(
        name=WORKER,
        address=f"pool {LOCAL_POOL}",
        command=(
            *(sys.executable, "-m", "prefect", "--no-prompt", "worker", "start"),
            *("--name", name, *pool, "--limit", str(config.runs_at_once)),
        ),
        environment=worker_environment(config, mark, inherited),
        folder=config.project,
        log=StackFolder(config.home).logs / "worker.log",
        is_ready=lambda process: _polls(api_of(config), name, process),
        grace_s=5,
        signals=2,
    )


def _polls(api: PrefectApi, name: str, process: psutil.Process) -> bool:
    try:
        workers = api.post(f"/work_pools/{LOCAL_POOL}/workers/filter", {})
        started = process.create_time()
    except (ApiAway, ApiRefused, psutil.NoSuchProcess):
        return False
    beats = [each["last_heartbeat_time"] for each in workers if each["name"] == name and each["last_heartbeat_time"]]
    return any(datetime.fromisoformat(beat).timestamp() > started for beat in beats)
