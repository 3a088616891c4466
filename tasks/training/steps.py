"""The edge of training: starts the processes that train, watches them, and keeps what they tell."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import torch
from prefect import task
from prefect.artifacts import create_progress_artifact, create_table_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE

from infra.engines.cores import usable_cores
from infra.engines.distributed import launch_group
from infra.shards import files
from infra.shards.folder_lock import FolderTaken, folder_locked
from tasks.training import checkpoints, job, losses, stopped
from tasks.training.job import TrainingJob
from tasks.training.provenance import code_version, hardware, libraries

RECORD = "training.json"
DATA = "data.json"
LOG = "log.txt"
_LOOK_EVERY_S = 0.5
_TELL_EVERY_S = 5.0
_TOLD_STEPS = 50  # rows of the table of losses


class OutputTaken(Exception):
    """The output folder belongs to another run. The message says how they differ."""


@contextmanager
def output_locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the lock ends with the process.

    Raises:
        OutputTaken: one is at work in it.
    """
    with ExitStack() as held:
        try:
            held.enter_context(folder_locked(folder))
        except FolderTaken as error:
            raise OutputTaken(
                f"{folder}: another process is training in it: wait for it, or choose another -o"
            ) from error
        yield


@task(task_run_name="{folder}", cache_policy=NO_CACHE)
def train_model(folder: Path, asked: TrainingJob, trainer: str) -> None:
    """Train the job in ``folder`` from its newest checkpoint on, unless its model is there already.

    Args:
        folder: with the job and its examples.
        asked: the job.
        trainer: module whose ``main`` each process calls with the folder.

    Raises:
        TrainingStopped: a loss or a gradient was no number.
        EngineFailed: a process ended otherwise than it should.
    """
    if (folder / job.MODEL).exists():
        return
    (folder / stopped.FILE).unlink(missing_ok=True)
    processes = asked.deepspeed.processes
    with launch_group(
        trainer, [str(folder)], processes=processes, log=folder / LOG, environment=_environment(processes)
    ) as group:
        artifact, told = create_progress_artifact(0.0, key="training-progress", description=str(folder)), 0.0
        assert isinstance(artifact, UUID)  # a coroutine only where there is a loop
        try:
            while not group.is_done(_LOOK_EVERY_S):
                if time.monotonic() - told > _TELL_EVERY_S:
                    told = time.monotonic()
                    _tell_progress(artifact, folder, asked)
        finally:
            if (why := stopped.told(folder)) is not None:
                raise why
    _tell_progress(artifact, folder, asked)
    create_table_artifact(_some(losses.read(folder / losses.FILE)), key="training-losses", description=str(folder))


def record(folder: Path, asked: TrainingJob) -> dict[str, Any]:
    """Write down beside the weights what they were made of and how they did, and return it."""
    lines = losses.read(folder / losses.FILE)
    steps = [line for line in lines if "loss" in line]
    evaluations = [line for line in lines if "evaluation_loss" in line]
    found = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": json.loads((folder / DATA).read_text(encoding="utf-8")),
        "job": asked.model_dump(mode="json"),
        "code": code_version(Path(__file__).parents[2]),
        "libraries": libraries(),
        "hardware": hardware(asked.deepspeed.processes),
        "metrics": {
            "steps": len(steps),
            "tokens": sum(line["tokens"] for line in steps),
            "seconds": round(sum(line["seconds"] for line in steps), 1),
            "loss": steps[-1]["loss"],
            "evaluation_loss": evaluations[-1]["evaluation_loss"] if evaluations else None,
            "evaluations": evaluations,
        },
    }
    files.put(folder / job.MODEL / RECORD, to_json(found))
    return found


def _environment(processes: int) -> dict[str, str]:
    if torch.cuda.is_available():
        return {}
    return {"DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": str(max(1, usable_cores() // processes))}


def _tell_progress(artifact: UUID, folder: Path, asked: TrainingJob) -> None:
    lines = [line for line in losses.read(folder / losses.FILE) if "loss" in line]
    if lines:
        last = lines[-1]
        told = f"step {last['step']} of {asked.deepspeed.steps}, loss {last['loss']:.4f}"
        update_progress_artifact(artifact, 100 * last["step"] / asked.deepspeed.steps, description=told)


def _some(lines: list[losses.Line]) -> list[dict[str, Any]]:
    """Thin out the loss curve for a table; every evaluation stays."""
    steps = [line for line in lines if "loss" in line]
    every = max(1, len(steps) // _TOLD_STEPS)
    evaluated = {line["step"]: line["evaluation_loss"] for line in lines if "evaluation_loss" in line}
    columns = ("step", "loss", "learning_rate", "gradient_norm", "seconds")
    return [
        {name: line[name] for name in columns} | {"evaluation_loss": evaluated.get(line["step"])}
        for line in steps
        if line["step"] % every == 0 or line["step"] in evaluated
    ]


def steps_behind(folder: Path) -> int:
    """Return how many steps of the job in ``folder`` need not be done again."""
    return checkpoints.steps_done(folder / job.CHECKPOINTS)


def to_json(value: object) -> bytes:
    """Write a value for a person to read as well."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
