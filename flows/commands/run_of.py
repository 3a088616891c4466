"""From the command line to a checked ``RunConfig``: the run file first, flags over it, ``--set`` over both."""

import tomllib
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from flows.commands.flags import RunFlags
from flows.config import DEFAULT_MIX, ConfigError, RunConfig, load_run

_SETTINGS = {
    "dataset": "dataset",
    "root": "root",
    "records": "records",
    "first": "first",
    "seed": "seed",
    "language": "synthesis.language",
    "words": "synthesis.words",
    "refinement_steps": "synthesis.refinement.steps",
    "in_flight": "in_flight",
    "workers": "workers",
    "budget": "budget_usd",
}
_SWITCHES = {
    "no_diversity": "synthesis.refinement.diversity",
    "no_record_type": "synthesis.record_type_and_format",
}


def run_of(flags: RunFlags) -> RunConfig:
    """Return the run that a command line describes.

    Raises:
        ConfigError: the file or a flag is wrong; the message says which.
    """
    load_run(flags.config, {})  # a run file stands on its own: what is wrong with it is not a flag's fault
    overrides = _overrides(flags)
    run = load_run(flags.config, overrides)
    if flags.shards is None:
        return run
    first, stop = _shards(flags)
    rows = {"first": first * run.shard_size, "records": (stop - first) * run.shard_size}
    return load_run(flags.config, overrides | rows)


def _overrides(flags: RunFlags) -> dict[str, Any]:
    given = {flag: getattr(flags, flag) for flag in _SETTINGS}
    overrides: dict[str, Any] = {_SETTINGS[flag]: value for flag, value in given.items() if value is not None}
    overrides |= {setting: False for flag, setting in _SWITCHES.items() if getattr(flags, flag)}
    if flags.model:
        overrides["models"] = [_model(spec) for spec in flags.model]
    return overrides | dict(map(_setting, flags.set_))


def _shards(flags: RunFlags) -> tuple[int, int]:
    if flags.records is not None or flags.first is not None:
        raise ConfigError("--shards says which records, so --first and --records cannot: leave one or the other out")
    start, colon, stop = str(flags.shards).partition(":")
    if not (colon and start.isdecimal() and stop.isdecimal() and int(start) < int(stop)):
        raise ConfigError(f"--shards {flags.shards}: give A:B with 0 <= A < B, such as 0:4 for the first four shards")
    return int(start), int(stop)


def _model(spec: str) -> dict[str, Any]:
    """Read ``KIND:NAME[=WEIGHT]``; a name may hold colons and equals signs, a weight is a number at the end."""
    kind, _, name = spec.partition(":")
    weight = 1.0
    head, equals, tail = name.rpartition("=")
    if equals and _is_number(tail):
        name, weight = head, float(tail)
    if kind not in ("llama_cpp", "openai", "litellm", "simulator") or not name:
        raise ConfigError(
            f"--model {spec}: give KIND:NAME or KIND:NAME=WEIGHT with llama_cpp, openai, litellm or simulator for KIND,"
            " such as openai:gpt-4.1-mini=3"
        )
    small = DEFAULT_MIX[0].model_dump() if kind == "llama_cpp" else {}  # what small models on this machine need
    return small | {"weight": weight, "engine": {"kind": kind, "model": name}}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _setting(assignment: str) -> tuple[str, Any]:
    name, equals, text = assignment.partition("=")
    name = name.strip()
    if not (name and equals):
        raise ConfigError(f"--set {assignment}: give NAME=VALUE, such as synthesis.refinement.pool_size=100")
    _check_name(name)
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return name, text
    if parsed.keys() != {"value"}:
        raise ConfigError(f"--set {assignment!r}: the value must be one TOML value")
    return name, parsed["value"]


def _check_name(name: str) -> None:
    """Make sure that ``name`` leads through tables to a single setting of the run file."""
    table: type[BaseModel] = RunConfig
    parts = name.split(".")
    for depth, part in enumerate(parts):
        place = ".".join(parts[:depth]) or "the run file"
        if part not in table.model_fields:
            raise ConfigError(f"--set {name}: no {part!r} in {place}; there are {', '.join(table.model_fields)}")
        kind = table.model_fields[part].annotation
        last = depth == len(parts) - 1
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if last:
                raise ConfigError(f"--set {name}: a table of settings, set one of {', '.join(kind.model_fields)}")
            table = kind
        elif _is_choice_of_tables(kind):
            return  # which of its settings there are depends on its kind: left to the check of the whole
        elif not last:
            raise ConfigError(f"--set {name}: {'.'.join(parts[: depth + 1])} is no table with settings of its own")


def _is_choice_of_tables(kind: object) -> bool:
    return any(isinstance(each, type) and issubclass(each, BaseModel) for each in get_args(kind)) and (
        get_origin(kind) is not tuple
    )
