import asyncio
import os
import signal
import subprocess
import sys
import time

import openai
import orjson
import pytest

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, SimulatorFailed, start
from infra.llm.connect import Endpoint, OpenAIEmbedding, connect, connect_embedder
from infra.llm.types import Message, Request

_PARENT = """
import sys, time
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import start
with start(SimulatorConfig()) as simulator:
    sys.stdout.write(f"{simulator.pid}\\n")
    sys.stdout.flush()
    time.sleep(600)
"""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _ask(simulator: Simulator) -> openai.types.chat.ChatCompletion:
    with openai.OpenAI(base_url=simulator.base_url, api_key="none", max_retries=0) as client:
        return client.chat.completions.create(
            model=simulator.model, messages=[{"role": "user", "content": "Write a letter."}], seed=1
        )


def test_two_processes_give_the_openai_sdk_the_same_answer() -> None:
    config = SimulatorConfig(seed=11, model="small", dimension=64)
    answers = []
    for _ in range(2):
        with start(config) as simulator:
            answers.append(_ask(simulator))
            simulator.wait(requests=1)
            assert simulator.statistics().answers == {"ok": 1}
            with openai.OpenAI(base_url=simulator.base_url, api_key="none") as client:
                embedded = client.embeddings.create(model="small", input=["one", "two"])
            assert [len(item.embedding) for item in embedded.data] == [64, 64]
            simulator.reset()
            assert simulator.statistics().requests == 0
        assert not _is_alive(simulator.pid)
    assert answers[0] == answers[1]


def test_our_adapter_works_unchanged_through_faults() -> None:
    async def ask(endpoint: Endpoint) -> tuple[set[str], int]:
        async with connect(endpoint) as backend:
            requests = [Request((Message("user", f"Write letter {number}."),)) for number in range(20)]
            replies = await asyncio.gather(*map(backend.complete, requests))
        async with connect_embedder(OpenAIEmbedding(endpoint=endpoint, dimension=384)) as embedder:
            vectors = await embedder.embed(["one", "two"])
        return {reply.text for reply in replies}, len(vectors)

    config = SimulatorConfig(fault_rate=0.3, faults=("server_error", "reset", "error_in_200", "unavailable"))
    with start(config) as simulator:
        endpoint = Endpoint(base_url=simulator.base_url, model=simulator.model, api_key_env=None)
        texts, vectors = asyncio.run(ask(endpoint))
        statistics = simulator.statistics()
    assert (len(texts), vectors) == (20, 2)
    assert statistics.answers["ok"] == 21
    assert sum(statistics.answers.values()) == statistics.requests > 21
    assert sum(count - 1 for count in statistics.repeated.values()) == statistics.requests - 21


def test_the_server_ends_when_its_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert _is_alive(pid)
        parent.send_signal(signal.SIGKILL)
    give_up_at = time.monotonic() + 10
    while _is_alive(pid) and time.monotonic() < give_up_at:
        time.sleep(0.05)
    assert not _is_alive(pid)


def test_the_command_prints_one_line_and_ends_with_its_input() -> None:
    command = [sys.executable, "-m", "infra.engines.simulator", "--model", "small", "--faults", "hang", "empty"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=30, check=True)
    address = orjson.loads(done.stdout)
    assert address["model"] == "small"
    assert address["base_url"].startswith("http://127.0.0.1:")
    assert done.stdout.count(b"\n") == 1


def test_a_wrong_setting_is_told_by_name() -> None:
    command = [sys.executable, "-m", "infra.engines.simulator", "--fault-rate", "2"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=30, check=False)
    assert done.returncode == 2
    assert b"fault_rate" in done.stderr


def test_a_server_that_cannot_start_is_an_error() -> None:
    with (
        pytest.raises(SimulatorFailed, match="ended with status 2"),
        start(SimulatorConfig.model_construct(fault_rate=2)),
    ):
        pass
