import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.engines.process import EngineFailed
from infra.engines.vllm_server import EngineMissing, VllmConfig
from infra.llm.connect import Endpoint, connect
from infra.llm.roster import Servers
from infra.llm.types import Message, Request
from infra.ray.cluster import ClusterUnusable, Size, cluster
from infra.ray.engines import size_of, start_on_cluster
from infra.ray.roster import LOST_S, Board, RayRoster
from tests.infra.ray.gpu_nodes import gpu_nodes, interpreter, started

pytestmark = pytest.mark.ray


def ask(record: str) -> Request:
    return Request((Message("user", f"A line about {record}."),), tags={"record_id": record})


def runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def comes(what: Callable[[], bool], within_s: float = 150) -> bool:
    end = time.monotonic() + within_s
    while not what() and time.monotonic() < end:
        time.sleep(0.1)
    return what()


def up(endpoint: Endpoint) -> Servers:
    assert endpoint.roster is not None
    return asyncio.run(RayRoster(endpoint.roster).servers())


async def talk(endpoint: Endpoint, meanwhile: Callable[[], None], until: Callable[[], bool]) -> list[str]:
    """Ask all the time, eight at once, while something happens, until something is the case; return the replies."""
    replies: list[str] = []

    async def one(number: int) -> None:
        while not done.is_set():
            replies.append((await backend.complete(ask(f"r{number}-{len(replies)}"))).text)

    done = asyncio.Event()
    async with connect(endpoint) as backend, asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(one(number))
        await asyncio.sleep(1)
        await asyncio.to_thread(meanwhile)
        assert await asyncio.to_thread(comes, until)
        done.set()
    return replies


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    with gpu_nodes(monkeypatch, tmp_path / "cache") as nodes:
        yield nodes


def test_a_silent_engine_is_off_the_board_and_comes_back_with_its_next_word() -> None:
    now = 0.0
    board = Board("key", lambda: now)
    board.report(1, "http://b/v1")
    now = LOST_S
    board.report(0, "http://a/v1")
    assert board.servers() == Servers(("http://a/v1",), "key")
    board.report(1, "http://c/v1")
    assert board.servers() == Servers(("http://a/v1", "http://c/v1"), "key")
    board.leave(0)
    assert board.servers() == Servers(("http://c/v1",), "key")


def test_replicas_ask_for_their_gpus_and_a_cpu_for_each() -> None:
    assert size_of(VllmConfig(model="m", replicas=2, gpus_each=4)) == Size(cpus=8, gpus=8)
    assert size_of(VllmConfig(model="m", replicas=2, gpus_each=0)) == Size(cpus=2, gpus=0)


def test_engines_live_on_the_nodes_and_survive_the_loss_of_one(nodes: Any, tmp_path: Path) -> None:
    other = nodes.add_node(num_cpus=2, num_gpus=1)
    state = tmp_path / "state"
    config = VllmConfig(model="m", python=interpreter(state), place="cluster", replicas=2, stall_s=3)
    with cluster(nodes.address, at_least=Size(nodes=2, gpus=2)):
        with pytest.raises(ClusterUnusable, match="2 GPUs and 2 CPUs on one node each, but there is room for 0"):
            start_on_cluster(config.model_copy(update={"gpus_each": 2, "replicas": 1})).__enter__()
        with start_on_cluster(config) as endpoint:
            assert endpoint.base_url is None
            before = up(endpoint).addresses
            assert len(set(before)) == 2
            assert [each.gpus for each in started(state)] == ["0", "0"]  # the first of each node

            def kill_one() -> None:
                os.kill(started(state)[0].pid, signal.SIGKILL)

            assert set(asyncio.run(talk(endpoint, kill_one, lambda: len(started(state)) == 3))) != {""}
            assert started(state)[2].port == started(state)[0].port  # where it was

            stuck = started(state)[1]

            def stall_one() -> None:
                (state / f"stall-{stuck.port}").touch()

            def is_replaced() -> bool:
                if runs(stuck.pid):
                    return False
                (state / f"stall-{stuck.port}").unlink(missing_ok=True)
                return len(started(state)) == 4

            asyncio.run(talk(endpoint, stall_one, is_replaced))
            assert set(up(endpoint).addresses) == set(before)

            def lose_a_node() -> None:
                nodes.remove_node(other, allow_graceful=False)
                nodes.add_node(num_cpus=2, num_gpus=1)

            def is_elsewhere() -> bool:
                now = set(up(endpoint).addresses)
                return len(now) == 2 and now != set(before)

            replies = asyncio.run(talk(endpoint, lose_a_node, is_elsewhere))
            assert len(replies) > 8
        assert comes(lambda: not any(runs(each.pid) for each in started(state)))


def test_a_replica_that_does_not_start_ends_the_run_with_its_log(nodes: Any, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such device >&2\nexit 3\n")
    broken.chmod(0o755)
    config = VllmConfig(model="m", python=broken, place="cluster", failures=2)
    with cluster(nodes.address):
        with pytest.raises(EngineFailed, match=r"(?s)failed 2 times in a row.*exit status 3"):
            start_on_cluster(config).__enter__()
        with pytest.raises(EngineMissing, match=r"no such interpreter on .*make setup-vllm"):
            start_on_cluster(config.model_copy(update={"python": tmp_path / "none"})).__enter__()
