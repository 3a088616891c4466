"""Checkpoints: written whole before they count, and one at a time kept.

DeepSpeed names the newest in a file ``latest`` that it writes in place, before it is certain that all is on the disk.
Here ``latest`` changes by a rename, when every process has written its part. Checkpoints are pickles, as PyTorch's are:
go on only from folders of your own.
"""

import os
import shutil
from pathlib import Path

import torch.distributed as dist

from tasks.training.engine import Engine

LATEST = "latest"
_PREFIX = "step-"


def steps_done(folder: Path) -> int:
    """Return the steps behind the checkpoint to go on from, 0 where there is none."""
    latest = folder / LATEST
    return int(latest.read_text(encoding="ascii").removeprefix(_PREFIX)) if latest.exists() else 0


def tag(steps: int) -> str:
    """Return the name of the checkpoint after ``steps`` steps."""
    return f"{_PREFIX}{steps:08}"


def publish(folder: Path, name: str) -> None:
    """Make ``name`` the checkpoint to go on from, at once and durably; its files are there already."""
    _sync(folder)
    temporary = folder / f".{LATEST}.tmp"
    temporary.write_text(name, encoding="ascii")
    _sync(temporary)
    temporary.replace(folder / LATEST)
    _sync(folder)


def save(engine: Engine, folder: Path, steps: int) -> None:
    """Save weights that are trained, optimizer and scheduler after ``steps`` steps; every process calls it.

    Random numbers need no saving: they are drawn anew from seed and step.
    """
    name = tag(steps)
    engine.save_checkpoint(str(folder), tag=name, save_latest=False, exclude_frozen_parameters=True)
    dist.barrier()
    if dist.get_rank() == 0:
        for file in sorted((folder / name).iterdir()):
            _sync(file)
        _sync(folder / name)
        publish(folder, name)
        for other in folder.glob(f"{_PREFIX}*"):
            if other.name != name:
                shutil.rmtree(other)
    dist.barrier()


def load(engine: Engine, folder: Path) -> int:
    """Put ``engine`` where the newest checkpoint was, and return the steps behind it; every process calls it."""
    steps = steps_done(folder)
    if steps:
        name = tag(steps)
        engine.load_checkpoint(str(folder), tag=name, load_module_strict=False)  # what is frozen is not in it
        if engine.global_steps != steps:
            raise ValueError(f"{folder / name}: holds step {engine.global_steps}, its name says {steps}: delete it")
    return steps


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
