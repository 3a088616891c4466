"""What a run was made with: code, libraries, machine."""

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

_LIBRARIES = ("deepspeed", "peft", "safetensors", "tokenizers", "torch", "transformers")
_OURS = "privasis-factory"


def code_version(root: Path) -> dict[str, Any]:
    """Return our version, and the commit where the code stands in a repository, with whether it has been changed."""
    found: dict[str, Any] = {"version": _version(_OURS)}
    if (root / ".git").exists() and shutil.which("git"):
        found["commit"] = _git(root, "rev-parse", "HEAD").strip()
        found["changed"] = bool(_git(root, "status", "--porcelain", "--untracked-files=no").strip())
    return found


def libraries() -> dict[str, str | None]:
    """Return the versions of what trains."""
    return {name: _version(name) for name in _LIBRARIES}


def hardware(processes: int) -> dict[str, Any]:
    """Return what trained: the GPUs, or else the processor."""
    gpus = [torch.cuda.get_device_name(i) for i in range(min(processes, torch.cuda.device_count()))]
    return {
        "processes": processes,
        "gpus": gpus,
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout
