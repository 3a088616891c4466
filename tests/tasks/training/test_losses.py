from pathlib import Path

from tasks.training.losses import LossLog, read


def test_a_torn_line_is_no_line(tmp_path: Path) -> None:
    file = tmp_path / "losses.jsonl"
    assert read(file) == []
    file.write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "lo')
    assert read(file) == [{"step": 1, "loss": 2.5}]


def test_what_came_after_the_checkpoint_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "losses.jsonl"
    with LossLog(file, 0) as log:
        for step in (1, 2, 3):
            log.write({"step": step, "loss": 1.0})
        log.write({"step": 2, "evaluation_loss": 3.0})
    with file.open("a") as torn:
        torn.write('{"step": 4, ')
    with LossLog(file, 2) as log:
        log.write({"step": 3, "loss": 0.5})
    assert read(file) == [
        {"step": 1, "loss": 1.0},
        {"step": 2, "loss": 1.0},
        {"step": 2, "evaluation_loss": 3.0},
        {"step": 3, "loss": 0.5},
    ]
