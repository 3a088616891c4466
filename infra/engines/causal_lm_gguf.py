"""Turns a GGUF file into the safetensors that torch loads in a moment; once, into the cache."""

import fcntl
import hashlib
import importlib.metadata
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
from transformers.utils.logging import disable_progress_bar

from infra.engines.models import KNOWN_MODELS, ModelMissing, locate
from infra.settings import settings

_CHUNK_BYTES = 1 << 22
_SHARD = "64MB"  # files are mapped: whoever lays weights out anew gives memory back file by file


def dequantized(model: str) -> tuple[Path, str]:
    """Return a folder with the model in float32 safetensors and its tokenizer, and the SHA-256 of the GGUF file.

    The first call takes its time (15 s for a model of 0.1B parameters) and four bytes a parameter of the cache.

    Raises:
        ModelMissing: the file is nowhere, is not what it should be, or transformers cannot read its architecture.
    """
    file = locate(model)
    sha256 = KNOWN_MODELS[model].sha256 if model in KNOWN_MODELS else _sha256(file)
    version = importlib.metadata.version("transformers")  # another version may read the file in another way
    folder = settings().cache / "dequantized"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{file.stem}-{sha256[:16]}-{version}"
    if not target.exists():
        with _locked(folder / f"{target.name}.lock"):
            if not target.exists():  # another process may have been quicker
                _convert(file, target)
    return target, sha256


def _convert(file: Path, target: Path) -> None:
    """Write ``target`` whole or not at all: it appears under its name when it is finished."""
    temporary = target.with_name(f"{target.name}.part")  # ours alone under the lock
    if temporary.exists():  # what a killed process left
        shutil.rmtree(temporary)
    disable_progress_bar()  # commands show their own
    try:
        model = AutoModelForCausalLM.from_pretrained(
            file.parent,
            gguf_file=file.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.float32,
            trust_remote_code=False,
        )
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, trust_remote_code=False)
    except (ValueError, NotImplementedError, KeyError, OSError) as error:
        raise ModelMissing(f"{file}: transformers cannot turn this GGUF file into a torch model: {error}") from error
    model.save_pretrained(temporary, max_shard_size=_SHARD)
    tokenizer.save_pretrained(temporary)
    temporary.replace(target)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file lock, which ends with the process that holds it."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
