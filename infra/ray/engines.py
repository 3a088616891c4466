"""vLLM on a Ray cluster: an actor for each replica, on a node that has its GPUs, starts and watches the server there.

A node that is lost takes its replicas along. Ray starts their actors again where there are GPUs free; the new servers
have other addresses, which clients learn from the run's roster.
"""

import logging
import os
import secrets
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from infra.engines.process import EngineFailed
from infra.engines.vllm_server import GRACE_S, KEY_ENV, VllmConfig, check_interpreter, served, visible_gpus
from infra.engines.vllm_weights import servable
from infra.llm.connect import Endpoint
from infra.llm.prices import FREE
from infra.llm.roster import RosterUnavailable
from infra.llm.types import BackendUnavailable
from infra.ray.cluster import ClusterUnusable, Size
from infra.ray.roster import REPORT_S, Board

logger = logging.getLogger(__name__)


def size_of(config: VllmConfig) -> Size:
    """Return what the replicas take of a cluster: their GPUs, and a CPU for each process that drives one."""
    return Size(cpus=config.replicas * _cpus_each(config), gpus=config.replicas * config.gpus_each)


@contextmanager
def start_on_cluster(config: VllmConfig) -> Iterator[Endpoint]:
    """Serve the model on the connected cluster for the length of the block; all replicas start at once.

    Each replica has its GPUs to itself, all on one node, where ``config.python`` must lead to vLLM. A server that dies
    or stands still is started again there; a replica whose actor or node is lost, elsewhere.

    Raises:
        ClusterUnusable: no node, or not enough of them, has the GPUs of a replica.
        EngineMissing: a node has no such interpreter.
        ModelMissing: a node has no such embedded model.
        EngineFailed: a replica did not start, or could not be kept alive and a call found it gone.
    """
    import ray

    _check_places(config, ray.nodes())  # type: ignore[no-untyped-call]
    config = config.model_copy(update={"python": config.python.absolute()})  # actors have other working directories
    name, key = f"privasis-engines-{uuid.uuid4().hex}", os.environ.get(KEY_ENV) or secrets.token_hex(16)
    board: Any = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(Board).options(name=name).remote(key)
    # A task that is repeated is just what is wanted here: it begins where the actor is now.
    host: Any = ray.remote(
        num_cpus=_cpus_each(config),
        num_gpus=config.gpus_each,
        max_restarts=-1,
        max_task_retries=-1,
    )(EngineHost)
    hosts = [host.options(max_concurrency=2).remote() for _ in range(config.replicas)]  # `stop` beside `serve`
    # What it serves goes with the task: an actor's own arguments may be gone when Ray restarts it.
    serving = [each.serve.remote(config, replica, board, key) for replica, each in enumerate(hosts)]
    try:
        _wait_until_all_are_up(config, board, serving)
        try:
            yield Endpoint(
                model=config.model,
                roster=name,
                api_key_env=None,
                max_in_flight=config.slots,
                request_timeout_s=config.request_timeout_s,
                price=FREE,
                dialect="vllm",
            )
        except BackendUnavailable:
            _check(serving)
            raise
    finally:
        ray.wait([each.stop.remote() for each in hosts], num_returns=len(hosts), timeout=GRACE_S)
        for actor in (*hosts, board):
            ray.kill(actor)


class EngineHost:
    """The body of the actor: one replica on the node where Ray has put it."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._ended = threading.Event()

    def serve(self, config: VllmConfig, replica: int, board: Any, key: str) -> None:  # noqa: ANN401 - a handle
        """Run the server until it is stopped, and report that it is up while it is.

        Args:
            config: of the model.
            replica: which of the replicas this is.
            board: actor to report to.
            key: what the server is to take.

        Raises:
            EngineMissing: vLLM is not installed on this node.
            ModelMissing: an embedded model is not.
            EngineFailed: the server did not start, or could not be kept alive.
        """
        try:
            check_interpreter(config)
            with served(
                config,
                replica,
                servable(config.model),
                host=_address_here(),
                gpus=visible_gpus() if config.gpus_each else [],  # Ray shows an actor those that it has given to it
                key=key,
            ) as engine:
                engine.wait_until_ready(config.start_s)
                while not self._stopping.wait(REPORT_S):
                    engine.check()
                    board.report.remote(replica, f"{engine.facts['url']}/v1")
        finally:
            board.leave.remote(replica)
            self._ended.set()

    def stop(self) -> None:
        """End the server, and return when it has ended."""
        self._stopping.set()
        self._ended.wait(GRACE_S)


def _address_here() -> str:
    """Return the address under which Ray has this node: no more of its network sees the engine than sees Ray."""
    import ray

    here = ray.get_runtime_context().get_node_id()
    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    return next(str(node["NodeManagerAddress"]) for node in nodes if node["NodeID"] == here)


def _cpus_each(config: VllmConfig) -> int:
    return max(1, config.gpus_each)


def _check_places(config: VllmConfig, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Make sure that the GPUs of each replica are on one node.

    Raises:
        ClusterUnusable: they are not: Ray would wait for ever.
    """
    each = {"GPU": config.gpus_each, "CPU": _cpus_each(config)}
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    places = sum(min(int(has.get(what, 0) // wanted) for what, wanted in each.items() if wanted) for has in alive)
    if places < config.replicas:
        gpus = ", ".join(f"{has.get('GPU', 0):g}" for has in alive)
        raise ClusterUnusable(
            f"{config.model}: {config.replicas} replicas of {each['GPU']} GPUs and {each['CPU']} CPUs on one node each,"
            f" but there is room for {places}: the cluster's nodes have {gpus} GPUs"
        )


def _wait_until_all_are_up(config: VllmConfig, board: Any, serving: list[Any]) -> None:  # noqa: ANN401 - a handle
    import ray

    end = time.monotonic() + config.start_s + GRACE_S  # the replicas themselves give up sooner, with their logs
    while True:
        _check(serving)
        try:
            up = len(ray.get(board.servers.remote()).addresses)
        except RosterUnavailable:
            up = 0
        if up == config.replicas:
            return
        if time.monotonic() > end:
            raise EngineFailed(f"{config.model}: {up} of {config.replicas} replicas are up after {config.start_s:g} s")
        time.sleep(REPORT_S / 4)


def _check(serving: list[Any]) -> None:
    """Raise what ended one of the replicas, if any has ended."""
    import ray
    from ray.exceptions import RayTaskError

    ended, _ = ray.wait(serving, num_returns=len(serving), timeout=0)
    for each in ended:
        try:
            ray.get(each)
        except RayTaskError as error:
            raise error.cause from error
