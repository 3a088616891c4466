import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from infra.engines.distributed import launch_group
from tasks.training import job, losses
from tasks.training.masked.maskings import Unmasked, oracle
from tasks.training.masked.steps import TRAINER, prepare_job, train_here, write_masks
from tasks.training.masked.tokenizer import train_tokenizer
from tests.tasks.training.masked.deepspeed_child import ROWS, model_of, order
from tests.tasks.training.masked.small import reference_gradients, settings
from tests.tasks.training.masked.test_maskings import scored
from tests.tasks.training.masked.test_steps import curve, run_of

PROCESSES = 2


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int, bool], list[torch.Tensor]]:
    folder = tmp_path_factory.mktemp("deepspeed")
    root = Path(__file__).parents[4]
    environment = {**os.environ, "DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={PROCESSES}", f"--log-dir={folder}"]
    done = subprocess.run(
        [sys.executable, *launcher, "-m", "tests.tasks.training.masked.deepspeed_child", str(folder)],
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    read: dict[tuple[str, int, bool], list[torch.Tensor]] = torch.load(folder / "found.pt")
    return read


@pytest.mark.parametrize("parts", ["one", "scale", "clip"])
@pytest.mark.parametrize(("stage", "adapters"), [(1, False), (2, False), (2, True)])
def test_no_gradient_is_dropped_over_micro_batches_and_processes(
    found: dict[tuple[str, int, bool], list[torch.Tensor]], parts: str, stage: int, adapters: bool
) -> None:
    micro_batches = [
        [ROWS[place] for place in places]
        for rank in range(PROCESSES)
        for places in order(PROCESSES).micro_batches(0, rank)
    ]
    model = model_of(adapters)
    (model.get_base_model() if adapters else model).set_attn_implementation("eager")
    expected = reference_gradients(model, micro_batches, parts)
    whole = float(torch.stack([each.norm() for each in expected]).norm())
    ours = found[parts, stage, adapters]
    assert len(ours) == len(expected)
    for gradient, theirs in zip(ours, expected, strict=True):
        torch.testing.assert_close(gradient.double(), theirs, rtol=0, atol=1e-6 * whole)


def train(folder: Path, log: Path, stop_after: int | None = None) -> None:
    """Train the job in a folder by two processes, and stop them roughly once a step is told to be done."""
    environment = {"DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1"}
    with launch_group(TRAINER, [str(folder)], processes=PROCESSES, log=log, environment=environment) as group:
        while not group.is_done(0.005):
            if stop_after and any(line["step"] >= stop_after for line in losses.read(folder / losses.FILE)):
                return


def test_two_processes_that_were_stopped_and_went_on_have_the_losses_of_plain_torch(tmp_path: Path) -> None:
    data = scored(12)
    write_masks(lambda: [data], train_tokenizer(data.texts, 280), [Unmasked(), oracle()], tmp_path / "masks")
    steps = 30
    one = run_of(tmp_path / "masks", tmp_path / "torch", action="both", settings=settings(steps, micro=2))
    two = run_of(
        tmp_path / "masks",
        tmp_path / "deepspeed",
        action="both",
        engine="deepspeed",
        save_every=4,
        settings=settings(
            steps, micro=1, train_batch_size=2, zero_optimization={"stage": 1}, zero_allow_untested_optimizer=True
        ),
    )
    train_here(one)
    prepare_job(two)
    train(two.output, tmp_path / "log.txt", stop_after=9)
    assert not (two.output / job.MODEL).exists()
    train(two.output, tmp_path / "log.txt")
    assert (two.output / job.MODEL / "model.safetensors").exists()
    expected, found = curve(one.output), curve(two.output)
    assert [line["step"] for line in found] == list(range(1, steps + 1))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-4)
        assert (ours["tokens"], ours["counted"], ours["learning_rate"]) == (
            theirs["tokens"],
            theirs["counted"],
            theirs["learning_rate"],
        )
