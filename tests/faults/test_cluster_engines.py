import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from infra.engines.process import EngineFailed
from infra.engines.vllm_server import EngineMissing, VllmConfig
from infra.llm.connect import Endpoint, connect
from infra.llm.roster import RosterUnavailable, Servers
from infra.llm.types import Backend, Message, Request
from infra.ray.cluster import ClusterUnusable, Size, cluster
from infra.ray.engines import size_of, start_on_cluster
from infra.ray.roster import LOST_S, SETTLED_S, Board, RayRoster
from tests.faults.gpu_nodes import gpu_nodes, interpreter, started

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
    roster = RayRoster(endpoint.roster)
    end = time.monotonic() + 30
    while True:
        try:
            return asyncio.run(roster.servers())
        except RosterUnavailable:  # its node was lost, and it was only just started on another
            assert time.monotonic() < end
            time.sleep(0.5)


@contextmanager
def calls_all_the_time(endpoint: Endpoint) -> Iterator[list[str]]:
    """Ask, eight at once, for the length of the block; yields the replies so far. A call that fails fails the block."""
    replies: list[str] = []
    over = threading.Event()

    async def one(backend: Backend, number: int) -> None:
        while not over.is_set():
            replies.append((await backend.complete(ask(f"r{number}-{len(replies)}"))).text)

    async def all_of_them() -> None:
        async with connect(endpoint) as backend, asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(one(backend, number))

    with ThreadPoolExecutor(1) as thread:
        asking = thread.submit(asyncio.run, all_of_them())
        try:
            assert comes(lambda: len(replies) > 16)
            yield replies
            before = len(replies)
            assert comes(lambda: len(replies) > before + 16)
        finally:
            over.set()
        asking.result()


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    with gpu_nodes(monkeypatch, tmp_path / "cache") as nodes:
        yield nodes


def test_a_silent_engine_is_off_the_board_and_comes_back_with_its_next_word() -> None:
    now = -SETTLED_S
    board = Board("key", lambda: now)
    now = 0.0
    board.report(1, "http://b/v1")
    now = LOST_S
    board.report(0, "http://a/v1")
    assert board.servers() == Servers(("http://a/v1",), "key")
    board.report(1, "http://c/v1")
    assert board.servers() == Servers(("http://a/v1", "http://c/v1"), "key")
    board.leave(0)
    assert board.servers() == Servers(("http://c/v1",), "key")


def test_a_board_that_was_just_started_does_not_say_that_all_engines_are_gone() -> None:
    now = 0.0
    board = Board("key", lambda: now)
    board.report(0, "http://a/v1")
    now = SETTLED_S - 0.1
    with pytest.raises(RosterUnavailable, match="started less than"):
        board.servers()
    now = SETTLED_S
    assert board.servers() == Servers(("http://a/v1",), "key")


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

            with calls_all_the_time(endpoint):
                os.kill(started(state)[0].pid, signal.SIGKILL)
                assert comes(lambda: len(started(state)) == 3)
            assert started(state)[2].port == started(state)[0].port  # where it was

            stuck = started(state)[1]
            with calls_all_the_time(endpoint):
                (state / f"stall-{stuck.port}").touch()
                assert comes(lambda: not runs(stuck.pid))
                (state / f"stall-{stuck.port}").unlink()
                assert comes(lambda: len(started(state)) == 4)
            assert set(up(endpoint).addresses) == set(before)

            with calls_all_the_time(endpoint):
                nodes.remove_node(other, allow_graceful=False)
                assert comes(lambda: len(up(endpoint).addresses) == 1)
                nodes.add_node(num_cpus=2, num_gpus=1)
                assert comes(lambda: len(set(up(endpoint).addresses) | set(before)) == 3)
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
