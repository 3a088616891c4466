"""Loads causal language models into torch: from a folder, the model hub, or a GGUF file (the embedded models)."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils.logging import disable_progress_bar

from infra.engines.causal_lm_gguf import dequantized
from infra.engines.cores import usable_cores
from infra.engines.models import DEFAULT_MODEL, KNOWN_MODELS, ModelMissing

_CHUNK_BYTES = 1 << 22
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


class CausalLmConfig(BaseModel):
    """A model that runs on this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["transformers"] = "transformers"
    model: str = Field(
        default=DEFAULT_MODEL,
        min_length=1,
        description="an embedded model, a folder with safetensors, a GGUF file, or a name on the model hub",
    )
    revision: str | None = Field(default=None, description="commit, tag or branch on the hub; none means its default")
    device: str | None = Field(default=None, description="cpu, cuda, cuda:1; none means a GPU where there is one")
    dtype: Literal["float32", "bfloat16", "float16"] | None = Field(
        default=None, description="none means bfloat16 on GPUs and float32 on CPUs"
    )
    threads: int | None = Field(
        default=None, ge=1, description="CPU threads of this process; none means all physical cores it may use"
    )


@dataclass(frozen=True, eq=False)
class CausalLm:
    """A loaded model.

    Attributes:
        model: in evaluation mode, on its device.
        tokenizer: a fast one.
        name: with the hash of its weights, or its commit on the hub: the same name, the same scores.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str


def load(config: CausalLmConfig) -> CausalLm:
    """Load a model to score with; on CPUs this also sets the threads of the process.

    Only safetensors and GGUF are read, and no code that comes with a model is run.

    Raises:
        ModelMissing: it is nowhere, has no safetensors, no fast tokenizer, or needs code of its own.
    """
    device = torch.device(config.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type == "cpu":
        torch.set_num_threads(config.threads or usable_cores())
    dtype = getattr(torch, config.dtype or ("bfloat16" if device.type == "cuda" else "float32"))
    name = identify(config)  # first: hashing finds what is missing sooner than loading
    model: PreTrainedModel = _from_pretrained(
        AutoModelForCausalLM, _source(config.model), config.revision, dtype=dtype, use_safetensors=True
    )
    return CausalLm(model.eval().to(device), load_tokenizer(config.model, config.revision), name)


def identify(config: CausalLmConfig) -> str:
    """Return the name that ``load`` gives the model, without loading its weights.

    Raises:
        ModelMissing: it is nowhere, or has no safetensors.
    """
    path = Path(config.model)
    if config.model in KNOWN_MODELS or path.is_file():
        return f"{path.name}@sha256:{dequantized(config.model)[1]}"
    if path.is_dir():
        return f"{_folder_name(path.resolve())}@sha256:{_weights_sha256(path)}"
    commit = _from_pretrained(AutoConfig, _source(config.model), config.revision)._commit_hash
    return f"{config.model}@{commit or config.revision}"


def _folder_name(folder: Path) -> str:
    """Name a folder of weights; training runs keep theirs in ``model``, which would tell nothing."""
    return folder.parent.name if folder.name == "model" else folder.name


def load_tokenizer(model: str, revision: str | None = None) -> PreTrainedTokenizerBase:
    """Load a model's tokenizer alone: where the model itself runs in an engine.

    Raises:
        ModelMissing: there is none, or it is not a fast one.
    """
    tokenizer: PreTrainedTokenizerBase = _from_pretrained(AutoTokenizer, _source(model), revision)
    if not tokenizer.is_fast:
        raise ModelMissing(f"{model}: its tokenizer has no fast version, and so no offsets: use a model that has one")
    return tokenizer


def _source(model: str) -> str:
    """Where transformers finds the model: a folder, or its name on the hub."""
    path = Path(model)
    if model in KNOWN_MODELS or path.is_file():
        return str(dequantized(model)[0])
    if path.is_dir():
        return str(path)
    if not _HUB_NAME.fullmatch(model) or ".." in model:
        raise ModelMissing(
            f"{model}: no such folder or file, and no name on the model hub; embedded models: {', '.join(KNOWN_MODELS)}"
        )
    return model


def _weights_sha256(folder: Path) -> str:
    """Hash configuration and weights of a folder, file by file in the order of their names."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ModelMissing(f"{folder}: no *.safetensors in it: save the model with save_pretrained")
    digest = hashlib.sha256()
    for file in [folder / "config.json", *files]:
        with file.open("rb") as source:
            while chunk := source.read(_CHUNK_BYTES):
                digest.update(chunk)
    return digest.hexdigest()


def _from_pretrained(kind: Any, source: str, revision: str | None, **options: Any) -> Any:  # noqa: ANN401
    """Load with transformers, whose errors name a hub where a person may have meant a folder."""
    disable_progress_bar()  # commands show their own
    try:
        return kind.from_pretrained(source, revision=revision or "main", trust_remote_code=False, **options)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelMissing(
            f"{source}: transformers cannot load it ({reason}): give a folder with config.json, *.safetensors and"
            f" tokenizer.json, a name that is in the hub's cache, or an embedded model: {', '.join(KNOWN_MODELS)}"
        ) from error
