import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import get_args, get_type_hints

import pytest
from typer import Typer
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from flows import cli
from flows.commands.errors import Code, RunFailed
from flows.config import ConfigError
from infra.engines.models import ModelMissing
from infra.llm.prices import UnknownPrice
from infra.llm.types import BackendUnavailable
from infra.ray.worker import JobStopped
from infra.shards.manifest import ManifestCorrupt
from infra.shards.plan import Reprocess

COMMANDS = (
    "synthesize",
    "sanitize",
    "preview",
    "estimate",
    "status",
    "batches",
    "cost",
    "check-identities",
    "shards status",
    "shards verify",
    "shards matrix",
    "shards repair",
    "backfill",
    "quarantine list",
    "quarantine count",
    "quarantine retry",
    "browse",
    "report",
    "compare",
    "review make",
    "review serve",
    "review export",
    "review import",
    "review table",
    "split",
    "evaluate cleaner",
    "evaluate nap2",
    "evaluate extraction",
    "evaluate quirks",
    "evaluate utility",
    "study chunk-size",
    "study code-pii",
    "study code-quirks",
    "train cleaner",
    "train masked",
    "export",
    "clean",
    "serve",
    "surprise score",
    "surprise study",
    "surprise calibrate",
    "surprise evaluate",
    "surprise mask",
    "surprise explain",
    "surprise route",
    "corpus code-pii",
    "corpus code-quirks",
    "doctor",
    "init",
    "up",
    "ps",
    "down",
)
run = CliRunner()


def test_help_is_quick_because_it_imports_nothing_heavy() -> None:
    program = (
        "import sys; from flows.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: print(sorted({'prefect', 'ray', 'polars', 'numpy', 'pydantic'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"


def test_the_version_is_the_distributions() -> None:
    assert run.invoke(cli.app, ["--version"]).output == f"privasis {version('privasis-factory')}\n"


def test_every_command_is_among_those_tested_here() -> None:
    def names(group: TyperGroup, before: str) -> Iterator[str]:
        for name, command in group.commands.items():
            if isinstance(command, TyperGroup):
                yield from names(command, f"{before}{name} ")
            else:
                yield before + name

    commands = get_command(cli.app)
    assert isinstance(commands, TyperGroup)
    assert set(names(commands, "")) == set(COMMANDS)


def test_the_help_names_every_command_and_every_exit_code() -> None:
    shown = run.invoke(cli.app, ["--help"])
    assert shown.exit_code == 0
    words = shown.output.split()
    assert all(command.split()[0] in words for command in COMMANDS)
    assert all(f"{code}" in shown.output for code in ("0 done", "1 a bug", "2 wrong", "3 something", "4 a data", "143"))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example(command: str) -> None:
    shown = run.invoke(cli.app, [*command.split(), "--help"])
    assert shown.exit_code == 0
    assert any(line.strip().startswith(f"privasis {command}") for line in shown.output.splitlines())


@pytest.mark.parametrize(
    "command",
    [
        "compare data/a --html s3://bucket/page.html",
        "export data/a --to s3://bucket/chats",
        "evaluate nap2 s3://bucket/rewrites.csv",
        "surprise evaluate data/a --policy here.json --policy s3://bucket/policy.json",
    ],
)
def test_a_file_of_this_machine_is_not_taken_from_a_bucket(command: str) -> None:
    said = CliRunner(env={"COLUMNS": "200"}).invoke(cli.app, command.split())
    assert said.exit_code == 2
    assert f"{command.split()[-1]}: this has to be on this machine" in said.output


def test_reprocess_offers_what_plans_know() -> None:
    offered = get_type_hints(cli.synthesize, include_extras=False)["reprocess"]
    assert get_args(offered) == get_args(Reprocess)


def raising(error: BaseException) -> Typer:
    app = Typer(cls=cli.Commands, pretty_exceptions_enable=False)
    app.callback()(lambda: None)

    @app.command()
    def fail() -> None:
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ConfigError("run.toml: words: too few"), 2, "run.toml: words: too few"),
        (UnknownPrice("no price known for model 'x'"), 2, "no price known for model 'x'"),
        (ModelMissing("m: run `make setup`"), 3, "m: run `make setup`"),
        (BackendUnavailable("m: HTTP 503 \x1b[31m"), 3, "m: HTTP 503 ⟨U+001B⟩[31m"),
        (JobStopped("part-0: stopped"), 3, "part-0: stopped"),
        (PermissionError(13, "Permission denied", "/data"), 3, "[Errno 13] Permission denied: '/data'"),
        (ManifestCorrupt("a.json: not JSON"), 4, "a.json: not JSON"),
        (RunFailed("2 of 3 shards failed", Code.DAMAGE), 4, "2 of 3 shards failed"),
    ],
)
def test_an_expected_error_is_one_message_and_a_code(error: Exception, code: int, said: str) -> None:
    result = run.invoke(raising(error), ["fail"])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"privasis: {said}\n")


def test_a_missing_package_is_named_with_what_to_do() -> None:
    result = run.invoke(raising(ModuleNotFoundError("No module named 'polars.io'", name="polars.io")), ["fail"])
    assert (result.exit_code, result.stderr) == (3, "privasis: package polars is not installed: run `make setup`\n")


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_decides_the_code_whatever_its_handler_does(signum: int, code: int) -> None:
    app = Typer(cls=cli.Commands)
    app.callback()(lambda: None)

    @app.command()
    def interrupted() -> None:
        before = signal.signal(signum, lambda number, _: sys.exit(number))  # as Ray's does
        try:
            signal.raise_signal(signum)
        finally:
            signal.signal(signum, before)

    assert run.invoke(app, ["interrupted"]).exit_code == code


@pytest.mark.parametrize("error", [ValueError("a bug"), ModuleNotFoundError("ours", name="tasks.gone"), KeyError("x")])
def test_a_bug_keeps_its_traceback(error: Exception) -> None:
    result = run.invoke(raising(error), ["fail"])
    assert (result.exit_code, result.exception) == (1, error)
