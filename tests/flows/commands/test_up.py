"""What ``privasis up`` refuses before it starts anything, and says of a stack that is up."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from flows.cli import app
from infra.settings import settings
from infra.stack.config import LOOPBACK, StackConfig
from infra.stack.folder import StackFolder
from infra.stack.state import ProcessId, StackState

cli = CliRunner()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PRIVASIS_HOME", str(tmp_path / "home"))
    settings.cache_clear()
    yield tmp_path / "home"
    settings.cache_clear()


def test_a_taken_port_is_named_and_no_folder_is_made(home: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]
        result = cli.invoke(app, ["up", "--port", str(port)])
    assert result.exit_code != 0
    assert f"port {port}, for the Prefect server, is taken" in " ".join(result.output.split())
    assert not home.exists()


def test_two_parts_on_one_port_are_refused_in_our_words(home: Path) -> None:
    result = cli.invoke(app, ["up", "--port", "4311", "--ray-port", "4311"])
    assert result.exit_code != 0
    assert "two parts on one port" in result.output
    assert "Value error" not in result.output


def test_a_home_that_is_a_file_says_which_variable_to_set(home: Path) -> None:
    home.write_text("")
    with ExitStack() as held:  # three that are free a moment later
        names = ("--port", "--ray-port", "--ray-dashboard-port")
        servers = [held.enter_context(socket.create_server((LOOPBACK, 0))) for _ in names]
        ports = [str(server.getsockname()[1]) for server in servers]
    result = cli.invoke(app, ["up", *chain.from_iterable(zip(names, ports, strict=True))])
    assert result.exit_code != 0
    assert "set PRIVASIS_HOME to another" in " ".join(result.output.split())


def test_a_stack_that_is_up_says_what_of_the_flags_it_does_not_do(home: Path) -> None:
    folder = StackFolder(home)
    folder.make()
    project = Path(__file__).parents[3]
    config = StackConfig(home=home, project=project, deployments=project / "deploy" / "prefect.yaml", port=4310)
    StackState(supervisor=ProcessId.of(psutil.Process()), mark="m", phase="ready", config=config).write(folder.state)
    plain = cli.invoke(app, ["up"])
    assert (plain.exit_code, "port =" in plain.output) == (0, False)
    other = cli.invoke(app, ["up", "--port", "4999"])
    assert "for port = 4999" in " ".join(other.output.split())
    assert "privasis down" in other.output
