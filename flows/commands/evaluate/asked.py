"""From the command line to what is to be evaluated."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import get_args

from flows.commands.flags import RunFlags
from flows.commands.run_of import run_of
from flows.config import ConfigError, MixedEngine, RunConfig
from infra.service.client import health_of
from tasks.evaluation.baselines import BASELINES, Baseline
from tasks.evaluation.choice import BaselineSanitizer, OutputsSanitizer, PresidioSanitizer, ServedSanitizer
from tasks.evaluation.outputs import OutputsUnusable, check_outputs, read_outputs

FILES = (".parquet", ".jsonl")


def model_named(run: RunConfig, flags: RunFlags, spec: str | None, flag: str) -> MixedEngine:
    """Return the model that ``spec`` names: one of the run file, or ``KIND:NAME``; without it, the run's only model.

    Raises:
        ConfigError: nothing of that name, or several to choose from.
    """
    names = [entry.name for entry in run.models]
    if spec is None:
        if len(run.models) == 1:
            return run.models[0]
        raise ConfigError(f"{flag}: say which model judges: one of {', '.join(names)}, or KIND:NAME")
    for entry in run.models:
        if entry.name == spec:
            return entry
    if ":" not in spec:
        raise ConfigError(f"{flag} {spec}: no such model in the run; there are {', '.join(names)}, or give KIND:NAME")
    return run_of(replace(flags, model=[spec])).models[0]


def sanitizer_named(
    run: RunConfig, flags: RunFlags, spec: str
) -> BaselineSanitizer | OutputsSanitizer | PresidioSanitizer | ServedSanitizer | MixedEngine:
    """Return the sanitizer that ``spec`` names: a baseline, a file, Presidio, an address, or ``model:MODEL``.

    Raises:
        ConfigError: nothing of that name.
        ModelMissing: Presidio's spaCy model is not here.
        ModuleNotFoundError: nor is Presidio.
        BackendUnavailable: no service answers at the address.
    """
    if spec.startswith(("http://", "https://")):
        health = health_of(spec)
        return ServedSanitizer(url=spec, model=health.model, at_once=health.at_once)
    if spec.partition(":")[0] == "presidio":
        return _presidio(spec.partition(":")[2])
    for baseline in get_args(Baseline):
        if spec == baseline:
            return BaselineSanitizer(baseline=baseline)
    if Path(spec).is_dir():
        raise ConfigError(
            f"--sanitizer {spec}: a folder: serve it with `privasis serve --model {spec}`, and give the address that"
            " this tells"
        )
    if spec.startswith("model:"):
        chosen: OutputsSanitizer | MixedEngine = model_named(run, flags, spec.removeprefix("model:"), "--sanitizer")
    elif Path(spec).suffix in FILES:
        if not Path(spec).is_file():
            raise ConfigError(f"--sanitizer {spec}: no such file")
        chosen = OutputsSanitizer.of(Path(spec))
    else:
        raise ConfigError(
            f"--sanitizer {spec}: give {', '.join(BASELINES)}, presidio, a file ({', '.join(FILES)}), the"
            " address of a `privasis serve`, or model:MODEL"
        )
    if chosen.name in BASELINES:
        raise ConfigError(f"--sanitizer {spec}: {chosen.name!r} is the name of a baseline: give it another name")
    return chosen


def _presidio(spacy_model: str) -> PresidioSanitizer:
    from infra.detectors.presidio import SPACY_MODEL, check_model  # an extra

    model = spacy_model or SPACY_MODEL
    check_model(model)
    return PresidioSanitizer(spacy_model=str(Path(model).resolve()) if Path(model).is_dir() else model)


def check_file(sanitizer: OutputsSanitizer, *, wanted: Collection[str], known: Collection[str]) -> None:
    """Make sure that a file has an output for each of the records ``wanted``, and none that is not ``known``.

    Raises:
        ConfigError: it has not; the message names records.
    """
    try:
        check_outputs(read_outputs(sanitizer.path), sanitizer.path, wanted=wanted, known=known)
    except OutputsUnusable as error:
        raise ConfigError(str(error)) from error
