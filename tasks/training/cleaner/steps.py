"""The edge of the cleaner's training: finds models, writes down the job."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from transformers import AutoConfig, PreTrainedTokenizerBase

from infra.engines.causal_lm import CausalLmConfig, identify, load_tokenizer
from infra.engines.causal_lm_gguf import dequantized
from infra.engines.models import KNOWN_MODELS
from infra.shards import files
from tasks.training import job
from tasks.training.answers import Answers, Reason
from tasks.training.cleaner.chats import Chats
from tasks.training.cleaner.config import TINY, CleanerRun
from tasks.training.cleaner.prepare import DataUnfit, Prepared, prepare
from tasks.training.cleaner.reading.steps import read_chats
from tasks.training.examples import encoded
from tasks.training.job import JobUnreadable, TrainingJob, read_job
from tasks.training.steps import DATA, OutputTaken, to_json
from tasks.training.tiny import tiny_qwen3

_UNFIT: Mapping[Reason, str] = {
    "too_long": "have more tokens than --length allows: raise it",
    "special_token": "write out a special token of the model",
    "empty_answer": "have an empty answer",
    "template": "are changed by the model's chat template: take another model",
}
TRAINER = "tasks.training.cleaner.train"
_TINY_TOKENIZER = "smollm2-135m"
_WEIGHTS = ["*.safetensors", "*.json", "*.txt", "*.jinja"]


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
        counts = ", ".join(f"{len(ids):,} {_UNFIT[reason]}" for reason, ids in train.left_out.items())
        raise DataUnfit(f"{run.data}: none of {len(read.train):,} chats can be trained on: {counts}")
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
    files.put(folder / DATA, to_json(_data(run, read, train, validation)))
    files.put(folder / job.FILE, asked.model_dump_json(indent=2).encode())
    return asked


def _model(run: CleanerRun) -> tuple[PreTrainedTokenizerBase, str, str]:
    """Return the tokenizer, the folder with the model, and its name."""
    model, revision = run.model, run.revision
    if model == TINY:
        start = run.output / "start"
        tokenizer = load_tokenizer(_TINY_TOKENIZER)
        if read_job(run.output) is None:  # else it is there, and may belong to another run
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
    try:
        before = read_job(folder)
    except JobUnreadable as error:
        raise OutputTaken(f"{error}: choose another -o, or delete the folder") from error
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
