"""A stack of a test: started with ``privasis up`` in a folder of its own, on ports of its own, and used over REST."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flows.config import RunConfig
from infra.stack.folder import StackFolder
from infra.stack.parts import api_of
from infra.stack.prefect_api import ApiAway, PrefectApi
from infra.stack.state import StackState, read_state

_COMMAND = [sys.executable, "-c", "from flows.cli import main; main()"]
_DEPLOYMENTS = """
prefect-version: 3.9.1
name: test
deployments:
- name: test
  entrypoint: flows/deployed/records.py:synthesize
  work_pool: {name: process}
  schedules:
  - {slug: leap-day, cron: "0 0 29 2 *", active: false}
  triggers:
  - {name: never, type: event, enabled: false, expect: [never]}
"""
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


class Stack:
    """A stack that is up."""

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.home = home
        self.environment = environment

    @property
    def deployments(self) -> Path:
        """The file whose deployment was registered."""
        file = self.state.config.deployments
        assert file is not None
        return file

    @property
    def state(self) -> StackState:
        state = read_state(StackFolder(self.home).state)
        assert state is not None
        return state

    @property
    def api(self) -> PrefectApi:
        return api_of(self.state.config)

    def pid(self, part: str) -> int:
        (process,) = [each.process for each in self.state.parts if each.name == part]
        assert process is not None
        return process.pid

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Give a command of ours."""
        return subprocess.run(
            [*_COMMAND, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=300
        )

    @property
    def deployment(self) -> dict[str, Any]:
        """What the server says about the one deployment."""
        found: dict[str, Any] = self.api.get("/deployments/name/synthesize/test")
        return found

    def begin(self, run: RunConfig) -> str:
        """Start a run as a program would, over REST, and return its id."""
        parameters = {"run_file": toml_of(run), "dataset": run.dataset}
        created = self.api.post(f"/deployments/{self.deployment['id']}/create_flow_run", {"parameters": parameters})
        return str(created["id"])

    def flow_run(self, flow_run: str) -> dict[str, Any] | None:
        """Return what the server says about a run; None while it does not answer."""
        try:
            found: dict[str, Any] = self.api.get(f"/flow_runs/{flow_run}")
        except ApiAway:
            return None
        return found

    def wait(self, flow_run: str, kinds: tuple[str, ...] = ("COMPLETED",), within_s: float = 300) -> dict[str, Any]:
        """Wait until a run has ended as one of ``kinds``."""
        end = time.monotonic() + within_s
        while (found := self.flow_run(flow_run)) is None or found["state_type"] not in kinds:
            assert found is None or found["state_type"] != "FAILED", found["state"]["message"]
            assert time.monotonic() < end, found
            time.sleep(0.3)
        return found

    def open_task_runs(self) -> list[dict[str, Any]]:
        """Return the task runs that the server believes to be under way."""
        runs = self.api.post("/task_runs/filter", {})
        return [run for run in runs if run["state_type"] not in ENDED]


@contextmanager
def stack(folder: Path, **environment: str) -> Iterator[Stack]:
    """Give a stack with one deployment, ``synthesize/test``; nothing of it outlives the block."""
    deployments = folder / "prefect.yaml"
    deployments.write_text(_DEPLOYMENTS, encoding="utf-8")
    home = folder / "home"
    ours = {"PRIVASIS_HOME": str(home), "OPENAI_API_KEY": "none"}  # a run file cannot say that a model needs no key
    one = Stack(home, os.environ | ours | environment)
    try:
        up = one.command("up", *ports(), "--deployments", str(deployments), "--cpus", "2")
        assert up.returncode == 0, up.stderr
        yield one
    finally:
        down = one.command("down")
        assert down.returncode == 0, down.stderr


def ports() -> list[str]:
    """Return flags for ports that are free."""
    names = ("--port", "--ray-port", "--ray-dashboard-port")
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    flags = [text for name, each in zip(names, listeners, strict=True) for text in (name, str(each.getsockname()[1]))]
    for each in listeners:
        each.close()
    return flags


def toml_of(run: RunConfig) -> str:
    """Return the text of a run file; every JSON text, number and truth value is one of TOML, too."""
    values = run.model_dump(mode="json", exclude_none=True)
    return "\n".join(f"{name} = {_inline(value)}" for name, value in values.items())


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_inline(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)
