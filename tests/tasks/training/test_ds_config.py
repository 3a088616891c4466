import json
from pathlib import Path
from typing import Any

import pytest

from tasks.training.ds_config import DeepSpeedUnfit, read_config

READY = Path(__file__).parents[3] / "deploy/deepspeed"


@pytest.mark.parametrize(
    ("name", "gpus", "micro", "accumulation", "examples", "weight_decay", "warmup", "steps", "stage"),
    [
        ("cleaner-4b", 2, 2, 16, 64, 0.01, 50, 1000, 2),  # PV Appendix C
        ("cleaner-0.6b", 4, 1, 20, 80, 0.1, 23, 750, 3),
    ],
)
def test_the_papers_settings(
    name: str,
    gpus: int,
    micro: int,
    accumulation: int,
    examples: int,
    weight_decay: float,
    warmup: int,
    steps: int,
    stage: int,
) -> None:
    config = read_config(READY / f"{name}.json")
    raw = config.raw()
    assert (config.processes, config.train_batch_size, config.steps, config.dtype) == (
        gpus,
        examples,
        steps,
        "bfloat16",
    )
    assert (raw["train_micro_batch_size_per_gpu"], raw["gradient_accumulation_steps"]) == (micro, accumulation)
    assert raw["optimizer"]["type"] == "AdamW"
    assert raw["optimizer"]["params"]["lr"] == raw["scheduler"]["params"]["warmup_max_lr"] == 1e-5
    assert raw["optimizer"]["params"]["weight_decay"] == weight_decay
    assert raw["scheduler"]["type"] == "WarmupDecayLR"
    assert raw["scheduler"]["params"]["warmup_num_steps"] == warmup
    assert raw["zero_optimization"]["stage"] == stage


def test_the_others_are_for_one_gpu_and_for_two_processes_without() -> None:
    one, cpu = read_config(READY / "one-gpu.json"), read_config(READY / "cpu.json")
    assert (one.processes, one.train_batch_size, one.dtype) == (1, 64, "bfloat16")
    assert (cpu.processes, cpu.dtype) == (2, "float32")


def test_fewer_steps_keep_the_share_of_the_warm_up() -> None:
    params = read_config(READY / "cleaner-4b.json").with_steps(100).raw()["scheduler"]["params"]
    assert (params["total_num_steps"], params["warmup_num_steps"]) == (100, 5)
    assert params["warmup_max_lr"] == 1e-5
    assert read_config(READY / "cleaner-4b.json").with_steps(3).scheduler.params.warmup_num_steps == 1


def test_the_learning_rate_is_that_of_the_optimizer_where_the_scheduler_names_none(tmp_path: Path) -> None:
    values = json.loads((READY / "cleaner-4b.json").read_text())
    del values["scheduler"]["params"]["warmup_max_lr"]  # DeepSpeed would take 0.001
    (tmp_path / "mine.json").write_text(json.dumps(values))
    assert read_config(tmp_path / "mine.json").raw()["scheduler"]["params"]["warmup_max_lr"] == 1e-5
    values["scheduler"] = {"type": "WarmupCosineLR", "params": {"total_num_steps": 5, "warmup_num_steps": 1}}
    (tmp_path / "mine.json").write_text(json.dumps(values))
    assert "warmup_max_lr" not in read_config(tmp_path / "mine.json").raw()["scheduler"]["params"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"train_batch_size": 7}, "7 is no multiple of"),
        ({"train_batch_size": "auto"}, "train_batch_size: Input should be a valid integer"),
        ({"fp16": {"enabled": True}}, "use bf16"),
        ({"scheduler": None}, "scheduler: Input should be"),
        ({"scheduler": {"type": "OneCycle", "params": {}}}, "scheduler.type: Input should be 'WarmupDecayLR'"),
        (
            {"scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": 5, "warmup_num_steps": 6}}},
            "6 of total_num_steps 5",
        ),
        (
            {"optimizer": {"type": "AdamW", "params": {"lr": 1e-5}}},
            "optimizer.params.lr 1e-05, scheduler.params.warmup_max_lr 0.001: make them equal",
        ),
    ],
)
def test_what_cannot_be_trained_by_is_told(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(json.loads((READY / "cpu.json").read_text()) | changes))
    with pytest.raises(DeepSpeedUnfit, match=complaint):
        read_config(file)


def test_a_file_that_is_not_there_or_not_json_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeepSpeedUnfit, match="no such file"):
        read_config(tmp_path / "none.json")
    for content in (b"{", b"\xff", b"[" * 100_000):
        (tmp_path / "a.json").write_bytes(content)
        with pytest.raises(DeepSpeedUnfit, match="not JSON"):
            read_config(tmp_path / "a.json")
