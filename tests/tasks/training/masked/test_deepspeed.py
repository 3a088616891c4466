import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.tasks.training.masked.deepspeed_child import ROWS, model_of, order
from tests.tasks.training.masked.small import reference_gradients

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
