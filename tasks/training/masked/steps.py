"""The edge of masked training: masks are made once and written down, then each run reads them.

    tokenizer = train_tokenizer(without_labels(scored.documents), 4096)  # or any fast one
    write_masks(lambda: [scored], tokenizer, maskings, folder)           # once: shared by all that follows
    for masking, action, seed in grid:
        trained = train_here(MaskedRun(masks=folder, masking=masking, action=action, seed=seed, ...))

``train_here`` trains with plain torch in the calling process, as a study of small models wants it; ``prepare_job`` and
``train_model`` of ``tasks.training.steps`` do the same in processes of their own, with DeepSpeed too.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import snapshot_download
from transformers import AutoConfig, PreTrainedTokenizerBase

from infra.engines.causal_lm import CausalLmConfig, identify, load_tokenizer
from infra.engines.causal_lm_gguf import dequantized
from infra.engines.models import KNOWN_MODELS
from infra.shards import files
from infra.shards.spec import spec_hash
from tasks.surprise.documents import Chat
from tasks.surprise.scored import ScoredSet
from tasks.surprise.scoring.tokenizer import TextTokenizer
from tasks.training import job
from tasks.training.masked.config import FromScratch, MaskedRun
from tasks.training.masked.coverage import Coverage, coverage
from tasks.training.masked.ground import Ground
from tasks.training.masked.job import MaskedJob, read_masked_job
from tasks.training.masked.layout import Ends, rows_of
from tasks.training.masked.mask_file import MaskTable, mask_writer
from tasks.training.masked.maskings import ByPolicy, Masking, MaskingUnfit, masks, settled
from tasks.training.masked.models import from_scratch
from tasks.training.masked.rows import encoded
from tasks.training.masked.train import train_with_torch
from tasks.training.steps import DATA, OutputTaken, output_locked, record, to_json

TRAINER = "tasks.training.masked.train"
MASKS, COVERAGE, TOKENIZER = "masks.parquet", "coverage.json", "tokenizer"
_WEIGHTS = ["*.safetensors", "*.json", "*.txt", "*.jinja"]


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished run.

    Attributes:
        model: folder with safetensors, configuration and tokenizer.
        record: what stands there in ``training.json``: data with coverage, job, versions, losses.
    """

    model: Path
    record: Mapping[str, Any]


def write_masks(
    pieces: Callable[[], Iterable[ScoredSet]],
    tokenizer: PreTrainedTokenizerBase,
    maskings: Sequence[Masking],
    folder: Path,
    chats: Mapping[str, Chat] | None = None,
) -> dict[str, Any]:
    """Make the masks of all maskings, and write them, their coverage and the tokenizer into ``folder``.

    Nothing in it depends on an action or a training seed. The same call writes the same bytes. One piece is in memory
    at a time, and eight bytes of each token where there is a masking by chance.

    Args:
        pieces: begins to read documents with reference scores, labels and groups, in pieces that cut no group in two;
            called again where a masking is matched to another, which takes all documents to be known.
        tokenizer: a fast one, of the model that is to be trained.
        maskings: with different names; one that is matched to another comes after it.
        folder: for ``masks.parquet``, ``coverage.json`` and ``tokenizer/``.
        chats: see ``Ground.of``.

    Returns:
        What is in ``coverage.json``: the file's SHA-256, hashes of scores, tokenizer and policies, and by masking its
        coverage of targets and its collateral.

    Raises:
        MaskingUnfit, PolicyMismatch, ScoresUnfit, ValueError: see ``tasks.training.masked.maskings.masks``.
        NoChatTemplate, ChatUnfit, GroundUnfit: see ``Ground.of``.
    """
    first = next(iter(pieces()), None)
    if first is None:
        raise MaskingUnfit("no document is scored: there is nothing to mask")
    scores_sha256, reference = first.sha256, first.reference
    del first
    fixed = settled(maskings, (Ground.of(piece, tokenizer, chats) for piece in pieces()))
    tokenizer_sha256 = tokenizer_hash(tokenizer)
    covered: dict[str, Coverage] = {}
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f".{MASKS}.tmp"
    with mask_writer(written, [each.name for each in fixed], scores_sha256, tokenizer_sha256) as write:
        for piece in pieces():
            ground = Ground.of(piece, tokenizer, chats)
            made = masks(fixed, ground)
            write(MaskTable.of(ground, made).rows(piece.table["group"].to_pylist()))
            for name, mask in made.items():
                here = coverage(mask, ground)
                covered[name] = covered[name] + here if name in covered else here
    figures = {
        "masks_sha256": _file_sha256(written),
        "scores_sha256": scores_sha256,
        "tokenizer_sha256": tokenizer_sha256,
        "reference": reference.model_dump(mode="json"),
        "policies": {each.name: spec_hash(each.policy) for each in fixed if isinstance(each, ByPolicy)},
        "maskings": {name: counts.figures() for name, counts in covered.items()},
    }
    tokenizer.save_pretrained(folder / TOKENIZER)
    written.replace(folder / MASKS)
    files.put(folder / COVERAGE, to_json(figures))
    return figures


def tokenizer_hash(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return the hash by which masks and models tell whether a tokenizer is theirs."""
    return TextTokenizer(tokenizer.backend_tokenizer, bos_id=None).sha256


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_coverage(folder: Path) -> dict[str, Any]:
    """Return what ``write_masks`` told of its masks.

    Raises:
        MaskingUnfit: there are none.
    """
    file = folder / COVERAGE
    if not file.exists():
        raise MaskingUnfit(f"{folder}: no masks for training in it: `privasis train masked` makes them")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def train_here(run: MaskedRun) -> Trained:
    """Train with plain torch in this process, from the newest checkpoint on; a finished run is read, not repeated.

    It uses the threads that torch is set to use, and leaves torch's random numbers as they were.

    Raises:
        MaskingUnfit, ModelMissing, ModelUnfit, OutputTaken: see ``prepare_job``.
        TrainingStopped: a loss or a gradient was no number.
        ValueError: the run asks for DeepSpeed.
    """
    if run.engine != "torch":
        raise ValueError(f"engine {run.engine}: in this process plain torch alone trains; take train_model for others")
    with output_locked(run.output):
        asked = prepare_job(run)
        if not (run.output / job.MODEL).exists():
            with torch.random.fork_rng():
                train_with_torch(run.output, asked)
        return Trained(run.output / job.MODEL, record(run.output, asked))


def prepare_job(run: MaskedRun) -> MaskedJob:
    """Write the rows, the model to start from, and the job into the output folder, unless they are there.

    Raises:
        MaskingUnfit: there are no such masks, they are of another tokenizer, the action leaves nothing to train on, or
            the engine cannot take it.
        ModelMissing: the model is nowhere.
        OutputTaken: the folder belongs to another run.
    """
    _check_engine(run)
    told = read_coverage(run.masks)
    if _file_sha256(run.masks / MASKS) != told["masks_sha256"]:
        raise MaskingUnfit(f"{run.masks / MASKS}: not the file that {COVERAGE} tells of: make the masks again")
    table = MaskTable.read(run.masks / MASKS, [run.masking])
    tokenizer = load_tokenizer(str(run.masks / TOKENIZER))
    source, name = _start(run, tokenizer)
    _check_tokenizer(run, source, table)
    if tokenizer.eos_token_id is None:
        raise MaskingUnfit(f"{source}: its tokenizer names no end of a text (eos_token): a model could not end one")
    ends = Ends(tokenizer.bos_token_id, tokenizer.eos_token_id)
    rows = rows_of(table, table.mask(run.masking), run.action, ends, run.length, pack=run.pack)
    if not rows:
        raise MaskingUnfit(f"{run.masking}, {run.action}: no document is left to train on")
    train = encoded(rows)
    asked = MaskedJob(
        model=name,
        source=source,
        end_of_turn=tokenizer.eos_token_id,
        train_sha256=files.sha256(train),
        validation_sha256=None,
        deepspeed=run.settings,
        masks_sha256=told["masks_sha256"],
        **run.model_dump(
            include={"masking", "action", "engine", "lora", "gradient_checkpointing", "seed", "save_every"}
        ),
    )
    _check_same(run.output, asked)
    documents = len({id_ for row in rows for id_ in row.documents})
    data = {
        "masks": str(run.masks),
        **{key: told[key] for key in ("masks_sha256", "scores_sha256", "tokenizer_sha256", "reference")},
        "masking": run.masking,
        "coverage": told["maskings"][run.masking],
        "train": {
            "documents": documents,
            "left_out": len(table.ids) - documents,
            "rows": len(rows),
            "tokens": sum(row.ids.size for row in rows),
            "passes": run.settings.steps * run.settings.train_batch_size / len(rows),
        },
    }
    files.put(run.output / job.TRAIN, train)
    files.put(run.output / DATA, to_json(data))
    files.put(run.output / job.FILE, asked.model_dump_json(indent=2).encode())
    return asked


def row_count(folder: Path, length: int, *, pack: bool = True) -> int:
    """Return how many rows a pass has when nothing is left out, to turn passes into steps alike for all maskings.

    Raises:
        MaskingUnfit: there are no masks in ``folder``.
    """
    read_coverage(folder)
    table = MaskTable.read(folder / MASKS)
    tokenizer = load_tokenizer(str(folder / TOKENIZER))
    ends = Ends(tokenizer.bos_token_id, tokenizer.eos_token_id)
    nothing = np.zeros(table.tokens.size, dtype=np.bool_)
    return len(rows_of(table, nothing, "loss", ends, length, pack=pack))


def _start(run: MaskedRun, tokenizer: PreTrainedTokenizerBase) -> tuple[str, str]:
    """Return the folder with the model to start from, and its name; one from scratch is written there."""
    if isinstance(run.start, FromScratch):
        folder = run.output / "start"
        with torch.random.fork_rng():
            from_scratch(run.start, tokenizer, run.length, run.seed).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return str(folder), identify(CausalLmConfig(model=str(folder)))
    model, revision = run.start.name, run.start.revision
    name = identify(CausalLmConfig(model=model, revision=revision))
    if model in KNOWN_MODELS or Path(model).is_file():
        return str(dequantized(model)[0]), name
    if Path(model).is_dir():
        return str(Path(model).resolve()), name
    return snapshot_download(model, revision=revision, allow_patterns=_WEIGHTS), name


def _check_engine(run: MaskedRun) -> None:
    stage = run.settings.zero_optimization.stage
    if run.engine == "torch" and run.settings.processes != 1:
        raise MaskingUnfit(
            f"engine torch is one process, the settings are for {run.settings.processes}: take deepspeed"
        )
    if run.engine == "deepspeed" and stage == 0:
        raise MaskingUnfit("zero_optimization.stage 0: DeepSpeed tells no norm of gradients then: set 1")
    if run.engine == "deepspeed" and stage == 3 and run.action == "clip":
        raise MaskingUnfit("zero_optimization.stage 3: clip needs the gradients of all weights at once: set 2 or 1")


def _check_tokenizer(run: MaskedRun, source: str, table: MaskTable) -> None:
    if tokenizer_hash(load_tokenizer(source)) != table.tokenizer_sha256:
        raise MaskingUnfit(
            f"{run.masks}: masks of another tokenizer than the model's ({source}): make them with its own"
        )
    config = AutoConfig.from_pretrained(source, trust_remote_code=False).get_text_config()
    limit = getattr(config, "max_position_embeddings", None)
    if limit is not None and run.length > limit:
        raise MaskingUnfit(f"--length {run.length}: the model takes {limit} tokens at most")


def _check_same(folder: Path, asked: MaskedJob) -> None:
    before = read_masked_job(folder)
    if before is None or before.fingerprint() == asked.fingerprint():
        return
    ours, theirs = asked.model_dump(), before.model_dump()
    differ = ", ".join(name for name in ours if ours[name] != theirs[name])
    raise OutputTaken(f"{folder}: another run is in it (it differs in {differ}): choose another -o, or delete it")
