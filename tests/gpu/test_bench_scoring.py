import json
from pathlib import Path

import pytest
import torch

from tests.gpu.bench_scoring import main


def test_every_step_runs_on_small_shapes_within_the_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    assert main(["--tiny", "--seconds", "0.1", "--json", str(figures)]) == 0
    (result,) = json.loads(figures.read_text(encoding="utf-8"))["results"]
    assert result["packed"]
    assert result["tokens_per_s"] > 0
    assert result["float32_worst_nats"] < 1e-3
    assert "| tiny |" in capsys.readouterr().out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_that_it_skips(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("skipped: no CUDA device here")
