"""From the parameters of a deployment to the flags of the command line, which everything else is built of."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from flows.commands.flags import RunFlags
from flows.config import DEFAULT_MIX, ConfigError, load_run
from flows.deployed.parameters import EngineChoice
from infra.engines.simulator.config import SimulatorConfig
from infra.settings import settings
from infra.shards.location import ObjectPath, location

UNSAID: EngineChoice = "as_in_run_file"
_OWN_MODELS = {"llama_cpp": DEFAULT_MIX[0].name, "simulator": SimulatorConfig().model}


@contextmanager
def flags_of(
    run_file: str, settings_: list[str] | None = None, *, engine: EngineChoice = UNSAID, model: str = "", **said: object
) -> Iterator[RunFlags]:
    """Give the flags that say the same as a deployment's parameters; a run file of text lasts as long as the block.

    Args:
        run_file: name of a file in the folder of run files, or a run file's text; empty for none.
        settings_: NAME=VALUE of any setting.
        engine: kind of the only model, in place of those of the run file.
        model: its name.
        said: other flags by name; None and empty texts say nothing.

    Raises:
        ConfigError: there is no such file, or a model without an engine.
    """
    given: dict[str, Any] = {name: value for name, value in said.items() if value not in (None, "")}
    with run_file_at(run_file) as path:
        if "root" in given or "root" not in load_run(path, {}).model_fields_set:
            given["root"] = held_root(given.get("root", ""))
        yield RunFlags(config=path, model=_models(engine, model), set_=settings_ or [], **given)


@contextmanager
def run_file_at(run_file: str) -> Iterator[Path | None]:
    """Give the place of a run file for the length of the block.

    Args:
        run_file: a name in the folder of run files, or a text: whatever has a line end or an equals sign.

    Raises:
        ConfigError: there is no such file in that folder.
    """
    if not run_file.strip():
        yield None
    elif "\n" in run_file or "=" in run_file:
        with TemporaryDirectory(prefix="privasis-") as folder:
            path = Path(folder) / "run_file"
            path.write_text(run_file, encoding="utf-8")
            yield path
    else:
        yield _named(run_file.strip())


def held_root(root: str) -> Path | ObjectPath:
    """Return the folder of the data sets: the one that was said, or else the worker's."""
    return place(str(root or settings().root))


def place(text: str) -> Path | ObjectPath:
    """Return the folder or file that was named: of the worker's machine, or of an object store.

    Raises:
        ConfigError: it is neither.
    """
    try:
        return location(text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def here(text: str) -> Path:
    """Return the path that was named, where only one of the worker's machine will do.

    Raises:
        ConfigError: it is in an object store; the folder ``s3:`` of this machine would be made.
    """
    found = place(text)
    if isinstance(found, ObjectPath):
        raise ConfigError(f"{text}: this has to be on the worker's machine: give a path, copy with `aws s3 cp`")
    return found


def _named(name: str) -> Path:
    folder = settings().run_files.resolve()
    path = (folder / name).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        there = ", ".join(sorted(each.name for each in folder.glob("*.toml"))) or "none"
        raise ConfigError(f"run_file {name}: no such file in {folder} (PRIVASIS_RUN_FILES); there are: {there}")
    return path


def _models(engine: EngineChoice, model: str) -> list[str]:
    if engine == UNSAID:
        if model:
            others = ", ".join(each for each in get_args(EngineChoice) if each != UNSAID)
            raise ConfigError(f"model {model}: say which engine has it ({others}), or leave the model empty")
        return []
    name = model or _OWN_MODELS.get(engine)
    if name is None:
        raise ConfigError(f"engine {engine}: say which model")
    return [f"{engine}:{name}"]
