"""The walk of ``docs/walk.md`` as a person does it, a kill included; on less data, in fewer steps."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.config import load_run
from tasks.training import checkpoints, job, losses
from tasks.training.steps import LOG, RECORD
from tests.faults.small_triplets import sanitize
from tests.flows.commands.test_serve import service
from tests.flows.conftest import MadeSet

pytestmark = pytest.mark.faults

_COMMAND = [sys.executable, "-c", "from flows.cli import main; main()"]
_WITHIN_S = 600.0
_STEPS = 4


def privasis(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*_COMMAND, *arguments], env=_environment(folder), capture_output=True, text=True, timeout=_WITHIN_S
    )


@contextmanager
def started(*arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command; whatever happens, it does not outlive the block."""
    environment = _environment(folder)
    with subprocess.Popen([*_COMMAND, *arguments], env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PRIVASIS_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}


def _trainers(folder: Path) -> int:
    """Count the processes that train in ``folder``."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        found += str(folder).encode() in words and b"infra.engines.distributed_child" in words
    return found


def _settings(folder: Path) -> Path:
    """Write the setting of ``cpu`` with batches of two examples."""
    ready = json.loads((Path(__file__).parents[2] / "deploy/deepspeed/cpu.json").read_text(encoding="utf-8"))
    small = ready | {"train_batch_size": 2, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1}
    file = folder / "small.json"
    file.write_text(json.dumps(small), encoding="utf-8")
    return file


def _copied(made: MadeSet, folder: Path) -> Path:
    """Copy a data set, which others read, and return a run file for the copy."""
    shutil.copytree(made.folder, folder / "data" / made.folder.name)
    file = folder / "run.toml"
    text = made.run_file.read_text(encoding="utf-8").replace(str(made.folder.parent), str(folder / "data"))
    file.write_text(text, encoding="utf-8")
    return file


def test_records_become_a_cleaner_that_is_killed_resumed_exported_served_and_measured(
    made_set: MadeSet, tmp_path: Path
) -> None:
    file = _copied(made_set, tmp_path)
    run_file, dataset = str(file), tmp_path / "data" / made_set.folder.name
    sanitize(load_run(file, {}))
    assert privasis("split", "-c", run_file, "--test", "0.2", folder=tmp_path).returncode == 0

    output = tmp_path / "cleaner"
    train = ("train", "cleaner", "--data", str(dataset), "--model", "tiny", "-o", str(output))
    train += ("--deepspeed", str(_settings(tmp_path)), "--steps", str(_STEPS), "--save-every", "2")
    with started(*train, folder=tmp_path) as process:
        end = time.monotonic() + _WITHIN_S
        while not any(line["step"] >= 3 for line in losses.read(output / losses.FILE)):
            assert process.poll() is None, (output / LOG).read_text(encoding="utf-8")[-3000:]
            assert time.monotonic() < end
            time.sleep(0.02)
        process.kill()
        killed_at = [line["loss"] for line in losses.read(output / losses.FILE)]
        while _trainers(output):  # they end with the command, though it could not tell them
            assert time.monotonic() < end
            time.sleep(0.05)
    assert checkpoints.steps_done(output / job.CHECKPOINTS) == 2
    assert not (output / job.MODEL).exists()

    resumed = privasis(*train, folder=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert "2 were done" in resumed.stdout
    curve = [line for line in losses.read(output / losses.FILE) if "loss" in line]
    assert [line["step"] for line in curve] == [1, 2, 3, 4]
    assert [line["loss"] for line in curve][:3] == killed_at[:3]  # the third step, done twice, came out the same
    record = json.loads((output / job.MODEL / RECORD).read_text(encoding="utf-8"))
    assert record["job"]["deepspeed"]["zero_optimization"]["stage"] == 2
    assert record["data"]["train"]["examples"] > 0

    with service("--model", str(output)) as running:
        judged = privasis("evaluate", "cleaner", "-c", run_file, "--sanitizer", running.url, "--json", folder=tmp_path)
        counts = httpx.get(f"{running.url}/metrics", timeout=60).text
    assert judged.returncode == 0, judged.stderr
    figures: dict[str, Any] = json.loads(judged.stdout)
    scores = figures["sets"]["all"]
    # A model after four steps writes what is no text: nothing of it is passed on, and nothing is counted as clean.
    assert sum(scores["no_output"].values()) == scores["records"] > 0
    assert scores["no_output"].keys() <= {"text_grown", "cut_off", "text_unrelated", "leaked_markup", "wrapped"}
    assert scores["table4"]["full_record"]["value"] == 0
    assert scores["table4"]["attribute"]["value"] == 0
    refused = re.findall(r'privasis_texts_total\{outcome="(\w+)"\} (\d+)', counts)
    assert {name: int(count) for name, count in refused} == scores["no_output"]
    assert figures["name"].startswith("cleaner-")
    page = dataset / "evaluations" / f"{figures['name']}.html"
    assert "No output" in page.read_text(encoding="utf-8")
