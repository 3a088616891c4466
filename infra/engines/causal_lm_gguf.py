"""Turns a GGUF file into the safetensors that torch loads in a moment; once, into the cache.

``python -m infra.engines.causal_lm_gguf MODEL`` does it in a process of its own and prints the folder.
"""

import hashlib
import importlib.metadata
import sys
from functools import partial
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
from transformers.utils.logging import disable_progress_bar

from infra.engines.cached_folder import made_once
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
    target = settings().cache / "dequantized" / f"{file.stem}-{sha256[:16]}-{version}"
    return made_once(target, partial(_convert, file)), sha256


def main() -> None:
    """Convert the model that the command line names and print where it lies."""
    try:
        folder, _ = dequantized(sys.argv[1])
    except ModelMissing as error:
        sys.exit(str(error))
    sys.stdout.write(f"{folder}\n")


def _convert(file: Path, target: Path) -> None:
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
    model.save_pretrained(target, max_shard_size=_SHARD)
    tokenizer.save_pretrained(target)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


if __name__ == "__main__":
    main()
