"""``privasis up`` and ``privasis ps``: start the local stack, say where everything is, show how it does."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from typer import Exit, echo

import flows
from flows.commands.errors import Code
from flows.config import ConfigError
from infra.settings import settings
from infra.stack import control
from infra.stack.config import LOOPBACK, StackConfig
from infra.stack.environment import DATABASE, asynchronous, exports
from infra.stack.folder import StackFolder
from infra.stack.state import PartState, StackState
from infra.stack.supervisor import Supervisor

_PROJECT = Path(flows.__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The flags of ``privasis up``."""

    port: int
    ray_port: int
    ray_dashboard_port: int
    cpus: int | None
    runs: int
    deployments: Path | None


def run(wanted: Wanted, database: str | None, *, foreground: bool) -> None:
    """Start the stack, if it is not up.

    Raises:
        ConfigError: a flag does not fit.
        PortTaken: something else listens on a port.
        StackFailed: a part did not come up.
    """
    home = settings().home
    state = control.state_of(home)
    if state is not None and state.supervisor.find() is not None:
        echo("The stack is up already.\n" if state.phase == "ready" else f"The stack is {state.phase} already.\n")
        if other := _otherwise(_config(wanted, home), state.config):
            say(f"It goes on as it was started: for {other}, end it first, with `privasis down`.")
        _print_addresses(state)
        return
    config = _config(wanted, home)
    if database is None and (secret := settings().database_url) is not None:
        database = secret.get_secret_value()
    if database is not None:
        try:
            asynchronous(database)
        except ValueError as error:
            raise ConfigError(str(error)) from error
        os.environ[DATABASE] = database
    try:
        control.prepare(config)
    except control.PortTaken as error:
        raise control.PortTaken(f"{error}: stop it, or choose others, see `privasis up --help`") from error
    if foreground:
        Supervisor(config, say).run()
        return
    _print_addresses(control.start(config, dict(os.environ), say))


def print_exports() -> None:
    """Print lines for a shell.

    Raises:
        ConfigError: no stack is up.
    """
    echo(exports(_the_stack().config))


def print_parts(*, as_json: bool) -> None:
    """Show how the parts do; exit with 3 where one does not serve, or nothing is up."""
    state = control.state_of(settings().home)
    if as_json:
        echo(state.model_dump_json(indent=1) if state else "null")
    elif state is None:
        echo("Nothing is up: `privasis up` starts it.")
    else:
        _print_table(state)
    if state is None or state.phase != "ready" or not all(map(_serves, (*state.parts,))):
        raise Exit(Code.OUTSIDE)


def _the_stack() -> StackState:
    state = control.state_of(settings().home)
    if state is None:
        raise ConfigError(f"no stack is up in {settings().home}: `privasis up` starts one")
    return state


def _config(wanted: Wanted, home: Path) -> StackConfig:
    default = _PROJECT / "deploy" / "prefect.yaml"
    deployments = wanted.deployments or (default if default.is_file() else None)
    if deployments is not None and not deployments.is_file():
        raise ConfigError(f"{deployments}: no such file of deployments")
    # A shell that uses the stack has its exports, and may well start it again.
    ours = settings().ray_address == f"{LOOPBACK}:{wanted.ray_port}"
    try:
        return StackConfig(
            home=home.resolve(),
            project=_PROJECT,
            deployments=None if deployments is None else deployments.resolve(),
            port=wanted.port,
            ray_port=wanted.ray_port,
            ray_dashboard_port=wanted.ray_dashboard_port,
            ray_address=None if ours else settings().ray_address,
            cpus=wanted.cpus,
            runs_at_once=wanted.runs,
        )
    except ValidationError as error:
        raise ConfigError("; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())) from error


def _otherwise(asked: StackConfig, runs: StackConfig) -> str:
    """Name what was asked for, by a flag or the environment, and is otherwise in the stack that runs."""
    fields = StackConfig.model_fields
    names = [name for name in fields if getattr(asked, name) not in (fields[name].default, getattr(runs, name))]
    return ", ".join(f"{name} = {getattr(asked, name)}" for name in names)


def _serves(part: PartState) -> bool:
    return part.ready and part.process is not None and part.process.find() is not None


def _print_addresses(state: StackState) -> None:
    config, folder = state.config, StackFolder(state.config.home)
    lines = {
        "Prefect": config.url,
        "Ray": config.ray_dashboard_url or f"{config.ray_head}, a cluster of its own",
        "password": f"{folder.password} (the whole line; Prefect asks for it)",
        "Ray's token": None if config.ray_address else f"{folder.ray_token} (its dashboard asks for it)",
        "logs": folder.logs,
        "history": folder.prefect if DATABASE not in os.environ else "PostgreSQL",
    }
    for name, value in lines.items():
        if value is not None:
            echo(f"{name:12} {value}")
    echo(
        '\nNext: open Prefect, choose a deployment, "Run". From a shell:\n'
        '  eval "$(privasis up --env)" && prefect deployment ls\n'
        "`privasis ps` shows how it does, `privasis down` ends it."
    )


def _print_table(state: StackState) -> None:
    alive = state.supervisor.find() is not None
    table = Table("part", "is", "process", "restarts", "ended last by", "address", box=None)
    table.add_row("supervisor", state.phase if alive else "dead", str(state.supervisor.pid), "", "", "")
    for part in state.parts:
        running = part.process is not None and part.process.find() is not None
        how = "ready" if _serves(part) else "starting" if running else "down"
        pid = str(part.process.pid) if part.process and running else ""
        table.add_row(part.name, how, pid, str(part.restarts), part.ended, part.address)
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    if not alive:
        echo("The supervisor was killed: `privasis up` ends what it left, and starts anew.")


def say(text: str) -> None:
    """Tell a person how it goes; what a program reads is on standard output."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
