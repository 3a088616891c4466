from pathlib import Path

import pytest

from flows.commands.train.setting import deepspeed_config
from flows.config import ConfigError


def test_a_deepspeed_configuration_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    assert deepspeed_config(None, None).processes == 2  # cpu
    assert deepspeed_config("cleaner-4b", 10).steps == 10
    with pytest.raises(ConfigError, match=r"no such file.*ready ones: cleaner-0\.6b, cleaner-4b, cpu, masked-code-pii"):
        deepspeed_config(str(tmp_path / "none.json"), None)


def test_more_gpus_than_there_are_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    assert deepspeed_config(None, None).processes == 1  # one-gpu
    with pytest.raises(ConfigError, match="cleaner-4b: its train_batch_size is for 2 GPUs, here are 1"):
        deepspeed_config("cleaner-4b", None)
