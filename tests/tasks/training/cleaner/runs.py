"""Training runs of two processes, forked, that a test can end; and the plain loop that they must equal."""

import atexit
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from tasks.training import job, losses
from tasks.training.answers import Answers
from tasks.training.ds_config import DeepSpeedConfig
from tasks.training.examples import IGNORED, Example, encoded
from tasks.training.job import TrainingJob
from tasks.training.order import Order
from tests.tasks.training.chatml import chat, save_tiny
from tests.tasks.training.cleaner import forks
from tests.tasks.training.cleaner.forks import PROCESSES, exit_file

_WITHIN_S = 240.0
READY = Path(__file__).parents[4] / "deploy/deepspeed/cpu.json"
NAMES = ("Jane", "Ana", "Omar", "Lee", "Rui", "Kim", "Ivo")


def settings(*, stage: int, steps: int, bf16: bool = False) -> DeepSpeedConfig:
    values = json.loads(READY.read_text(encoding="utf-8"))
    values["zero_optimization"]["stage"] = stage
    values["bf16"]["enabled"] = bf16
    return DeepSpeedConfig.model_validate(values).with_steps(steps)


def examples(folder: Path) -> list[Example]:
    """Write the model into ``folder`` and return thirteen examples for it, of unequal lengths."""
    answers = Answers(save_tiny(folder), 300)
    chats = (
        chat(f"r{i}", f"{NAMES[i % 7]} called {'again ' * (i % 4)}at {i}.", f"Someone called{' again' * (i % 3)}.")
        for i in range(13)
    )
    return [answers.example(each) for each in chats]


def write_job(folder: Path, train: Sequence[Example], validation: Sequence[Example], **changes: Any) -> TrainingJob:
    """Write a job into ``folder`` for the model in the folder ``start`` beside it."""
    folder.mkdir(parents=True)
    (folder / job.TRAIN).write_bytes(encoded(train))
    (folder / job.VALIDATION).write_bytes(encoded(validation))
    values: dict[str, Any] = {
        "model": "tiny",
        "source": str(folder.parent / "start"),
        "end_of_turn": int(train[0].labels[-1]),
        "train_sha256": "0",
        "validation_sha256": "1",
        "evaluate_every": 3,
        "save_every": 4,
    }
    asked = TrainingJob(**values | changes)
    (folder / job.FILE).write_text(asked.model_dump_json(), encoding="utf-8")
    return asked


@lru_cache(maxsize=1)
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", forks.__name__],
        cwd=READY.parents[2],
        env=os.environ | {"DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    atexit.register(_end, server)
    return server


def _end(server: subprocess.Popen[str]) -> None:
    server.kill()
    server.communicate()


@contextmanager
def started(folder: Path) -> Iterator[list[int]]:
    """Start two processes; whatever happens, they do not outlive the block: SIGKILL ends them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pids: list[int] = []
    for rank in range(PROCESSES):
        exit_file(folder, rank).unlink(missing_ok=True)
    try:
        for rank in range(PROCESSES):
            server = _server()
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps([str(folder), rank, port]) + "\n")
            server.stdin.flush()
            pids.append(int(server.stdout.readline()))
        yield pids
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while any(map(_is_running, pids)):
            time.sleep(0.01)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _exit_codes(folder: Path) -> list[int]:
    files = [exit_file(folder, rank) for rank in range(PROCESSES)]
    return [int(text) for file in files if file.exists() and (text := file.read_text())]


def finish(folder: Path) -> list[int]:
    """Train until both processes have ended, or one has badly; return the exit codes of those that have ended."""
    with started(folder) as pids:
        end = time.monotonic() + _WITHIN_S
        while any(map(_is_running, pids)) and not any(_exit_codes(folder)):
            assert time.monotonic() < end, (folder / "out.txt").read_text(encoding="utf-8")[-3000:]
            time.sleep(0.05)
        return _exit_codes(folder)


def kill_after(folder: Path, step: int) -> None:
    """Train, and kill the processes as soon as a step is told to be done."""
    with started(folder):
        end = time.monotonic() + _WITHIN_S
        while not any(line["step"] >= step for line in losses.read(folder / losses.FILE)):
            assert time.monotonic() < end, (folder / "out.txt").read_text(encoding="utf-8")[-3000:]
            assert not any(_exit_codes(folder)), (folder / "out.txt").read_text(encoding="utf-8")[-3000:]
            time.sleep(0.01)


def curve(folder: Path) -> list[dict[str, Any]]:
    """Return the loss curve without the times, which differ."""
    lines = losses.read(folder / losses.FILE)
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def plain_loop(source: Path, train: Sequence[Example], asked: TrainingJob) -> list[tuple[float, float]]:
    """Train as the job says in one process, example by example, without DeepSpeed and packing.

    Returns:
        The loss of each step, and the norm of its gradients: Adam hides by what they are scaled.
    """
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).train()
    raw: Mapping[str, Any] = asked.deepspeed.raw()
    adam, schedule = raw["optimizer"]["params"], raw["scheduler"]["params"]
    optimizer = torch.optim.AdamW(
        model.parameters(), betas=adam["betas"], eps=adam["eps"], weight_decay=adam["weight_decay"]
    )
    order = Order([each.ids.size for each in train], *_shape(raw), asked.seed)
    found = []
    for step in range(asked.deepspeed.steps):
        for group in optimizer.param_groups:
            group["lr"] = adam["lr"] * _share(step, max(2, schedule["warmup_num_steps"]), schedule["total_num_steps"])
        batch = [train[place] for place in order.batch(step)]
        nll = torch.stack([_nll(model, each) for each in batch]).sum()
        loss = nll / sum(int((each.labels != IGNORED).sum()) for each in batch)
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), raw["gradient_clipping"])
        optimizer.step()
        found.append((loss.item(), norm.item()))
    return found


def _shape(raw: Mapping[str, Any]) -> tuple[int, int, int]:
    return raw["train_micro_batch_size_per_gpu"], raw["gradient_accumulation_steps"], PROCESSES


def _share(step: int, warmup: int, total: int) -> float:
    """WarmupDecayLR as DeepSpeed has it: a logarithmic rise, whose first two steps stand still, then a line to zero."""
    done = step - 1
    if done < 1:
        return 0.0
    return math.log(done + 1) / math.log(warmup) if done < warmup else (total - done) / (total - warmup)


def _nll(model: Any, example: Example) -> torch.Tensor:
    ids = torch.tensor(example.ids[None].astype(np.int64))
    labels = torch.tensor(example.labels[None].astype(np.int64))
    return model(input_ids=ids, labels=labels).loss * int((labels != IGNORED).sum())
