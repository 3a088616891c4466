"""The edge of training: reads data sets, finds models, starts the processes that train, and keeps what they tell."""

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import torch
from huggingface_hub import snapshot_download
from prefect import task
from prefect.artifacts import create_progress_artifact, create_table_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from transformers import AutoConfig, PreTrainedTokenizerBase

from infra.engines.causal_lm import CausalLmConfig, identify, load_tokenizer
from infra.engines.causal_lm_gguf import dequantized
from infra.engines.cores import usable_cores
from infra.engines.distributed import launch_group
from infra.engines.models import KNOWN_MODELS
from infra.shards import files
from tasks.evaluation.splits import read_splits
from tasks.export.rows import COLUMNS, chats
from tasks.sanitization.steps import triplets_store
from tasks.training import checkpoints, job, losses, stopped
from tasks.training.answers import Answers, Chat
from tasks.training.cleaner.chats import Chats, chat_of, read_export
from tasks.training.cleaner.config import TINY, CleanerRun
from tasks.training.cleaner.prepare import DataUnfit, Prepared, prepare
from tasks.training.examples import encoded
from tasks.training.job import TrainingJob, read_job
from tasks.training.provenance import code_version, hardware, libraries
from tasks.training.tiny import tiny_qwen3

RECORD = "training.json"
LOG = "log.txt"
_TRAINER = "tasks.training.cleaner.train"
_TINY_TOKENIZER = "smollm2-135m"
_WEIGHTS = ["*.safetensors", "*.json", "*.txt", "*.jinja"]
_LOOK_EVERY_S = 0.5
_TELL_EVERY_S = 5.0
_TOLD_STEPS = 50  # rows of the table of losses


class OutputTaken(Exception):
    """The output folder belongs to another run. The message says how they differ."""


def read_chats(folder: Path) -> Chats:
    """Read a data set with triplets that are split, or an export.

    Raises:
        DataUnfit: there is nothing to train on, or what is there cannot be read as chats.
        ManifestCorrupt, SchemaMismatch, TableDamaged: a file of the data set is not as it was committed.
    """
    folder = folder.resolve()
    if not (folder / "triplets").is_dir():
        return read_export(folder)
    store = triplets_store(folder.parent, folder.name)
    shards = store.manifest.shards()
    splits = read_splits(folder.parent, folder.name)
    if splits is None:
        raise DataUnfit(f"{folder}: its triplets are not split: `privasis split` first, so that tests stay unseen")
    found: dict[str, list[Chat]] = {"train": [], "validation": []}
    for shard in shards:
        tables = chats(store.read_shard("triplets", shard, COLUMNS), splits)
        for split, table in tables.items():
            if split in found:
                found[split] += [chat_of(row, f"{folder}: triplets {shard.name}") for row in table.to_pylist()]
    if not found["train"]:
        raise DataUnfit(f"{folder}: `privasis split` has left no verified triplet to train on")
    sources = {f"triplets/{shard.name}": store.manifest.record(shard).files["triplets"].sha256 for shard in shards}
    return Chats(found["train"], found["validation"], sources)


def prepare_job(run: CleanerRun) -> TrainingJob:
    """Write the examples and the job into the output folder, unless they are there.

    Raises:
        DataUnfit: there is nothing to train on, or a chat is too long and that was to be a failure.
        TemplateUnfit: the model's chat template cannot be trained with.
        ModelMissing: the model is nowhere.
        OutputTaken: the folder belongs to another run.
    """
    folder = run.output
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, source, name = _model(run)
    _check_length(run, source)
    read = read_chats(run.data)
    answers = Answers(tokenizer, run.length)
    train = prepare(read.train, answers, run.too_long)
    validation = prepare(read.validation, answers, run.too_long)
    if not train.examples:
        counts = {reason: len(ids) for reason, ids in train.left_out.items()}
        raise DataUnfit(f"{run.data}: none of {len(read.train)} chats can be trained on: {counts}")
    data = {job.TRAIN: encoded(train.examples)}
    if validation.examples:
        data[job.VALIDATION] = encoded(validation.examples)
    hashes = {file: files.sha256(content) for file, content in data.items()}
    asked = TrainingJob(
        model=name,
        source=source,
        end_of_turn=answers.end_of_turn,
        train_sha256=hashes[job.TRAIN],
        validation_sha256=hashes.get(job.VALIDATION),
        **run.model_dump(
            include={"deepspeed", "lora", "gradient_checkpointing", "seed", "evaluate_every", "save_every"}
        ),
    )
    _check_same(folder, asked)
    for file, content in data.items():
        files.put(folder / file, content)
    files.put(folder / "data.json", _json(_data(run, read, train, validation)))
    files.put(folder / job.FILE, asked.model_dump_json(indent=2).encode())
    return asked


@contextmanager
def output_locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the lock ends with the process.

    Raises:
        OutputTaken: one is at work in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OutputTaken(
                f"{folder}: another process is training in it: wait for it, or choose another -o"
            ) from error
        yield


@task(task_run_name="{folder}", cache_policy=NO_CACHE)
def train_model(folder: Path, asked: TrainingJob) -> None:
    """Train the job in ``folder`` from its newest checkpoint on, unless its model is there already.

    Raises:
        TrainingStopped: a loss or a gradient was no number.
        EngineFailed: a process ended otherwise than it should.
    """
    if (folder / job.MODEL).exists():
        return
    (folder / stopped.FILE).unlink(missing_ok=True)
    processes = asked.deepspeed.processes
    with launch_group(
        _TRAINER, [str(folder)], processes=processes, log=folder / LOG, environment=_environment(processes)
    ) as group:
        artifact, told = create_progress_artifact(0.0, key="train-cleaner-progress", description=str(folder)), 0.0
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
    create_table_artifact(_some(losses.read(folder / losses.FILE)), key="train-cleaner-losses", description=str(folder))


def record(folder: Path, asked: TrainingJob) -> dict[str, Any]:
    """Write down beside the weights what they were made of and how they did, and return it."""
    lines = losses.read(folder / losses.FILE)
    steps = [line for line in lines if "loss" in line]
    evaluations = [line for line in lines if "evaluation_loss" in line]
    found = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": json.loads((folder / "data.json").read_text(encoding="utf-8")),
        "job": asked.model_dump(mode="json"),
        "code": code_version(Path(__file__).parents[3]),
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
    files.put(folder / job.MODEL / RECORD, _json(found))
    return found


def _model(run: CleanerRun) -> tuple[PreTrainedTokenizerBase, str, str]:
    """Return the tokenizer, the folder with the model, and its name."""
    model, revision = run.model, run.revision
    if model == TINY:
        start = run.output / "start"
        tokenizer = load_tokenizer(_TINY_TOKENIZER)
        tiny_qwen3(tokenizer, run.seed).save_pretrained(start)
        tokenizer.save_pretrained(start)
        return tokenizer, str(start), identify(CausalLmConfig(model=str(start)))
    name = identify(CausalLmConfig(model=model, revision=revision))
    if model in KNOWN_MODELS or Path(model).is_file():
        source = str(dequantized(model)[0])
    elif Path(model).is_dir():
        source = str(Path(model).resolve())
    else:
        source = snapshot_download(model, revision=revision, allow_patterns=_WEIGHTS)
    return load_tokenizer(source), source, name


def _check_length(run: CleanerRun, source: str) -> None:
    config = AutoConfig.from_pretrained(source, trust_remote_code=False).get_text_config()
    limit = getattr(config, "max_position_embeddings", None)
    if limit is not None and run.length > limit:
        raise DataUnfit(f"--length {run.length}: {run.model} takes {limit} tokens at most")


def _check_same(folder: Path, asked: TrainingJob) -> None:
    before = read_job(folder)
    if before is None or before.fingerprint() == asked.fingerprint():
        return
    ours, theirs = asked.model_dump(), before.model_dump()
    differ = ", ".join(name for name in ours if ours[name] != theirs[name])
    raise OutputTaken(f"{folder}: another run is in it (it differs in {differ}): choose another -o, or delete it")


def _data(run: CleanerRun, read: Chats, train: Prepared, validation: Prepared) -> dict[str, Any]:
    return {
        "folder": str(run.data),
        "length": run.length,
        "sources": dict(read.sources),
        "train": {"examples": len(train.examples), "left_out": dict(train.left_out)},
        "validation": {"examples": len(validation.examples), "left_out": dict(validation.left_out)},
    }


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


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
