"""The Ray cluster of a run: one of our own on loopback, or the one whose address is given. Never another by accident.

Ray is imported inside functions, here and in the neighbours: it takes a second that ``privasis --help`` need not wait
for, and it reads part of its environment only while it is imported.
"""

import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from infra.priority import give_way
from infra.ray.versions import check_versions

LOOPBACK = "127.0.0.1"
# Ray reads the first and the last of these while it is imported.
LOCAL_ENVIRONMENT = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # bind to loopback, as Ray does on those two, not to every interface
    "RAY_AUTH_MODE": "token",  # loopback is open to every user of this machine
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else a FutureWarning about CUDA_VISIBLE_DEVICES
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # under `uv run`, Ray would rebuild the environment for its workers
}
OWN_S = 10  # a cluster of our own says at once what it has, and does not grow
OBJECT_STORE_BYTES = 200_000_000  # what travels is configurations, receipts and pool samples of a few MB


class ClusterUnusable(Exception):
    """The cluster cannot be started, reached or used; the message says what to do."""


@dataclass(frozen=True)
class Size:
    """How large a cluster is, or has to be at least."""

    nodes: int = 1
    cpus: float = 1
    gpus: float = 0

    def covers(self, asked: "Size") -> bool:
        """Tell whether there is at least as much of everything as ``asked``."""
        return self.nodes >= asked.nodes and self.cpus >= asked.cpus and self.gpus >= asked.gpus

    def __str__(self) -> str:
        counts = ((self.nodes, "node"), (self.cpus, "CPU"), (self.gpus, "GPU"))
        return ", ".join(f"{number:g} {noun}{'' if number == 1 else 's'}" for number, noun in counts)


@contextmanager
def cluster(address: str | None, *, at_least: Size = Size(), timeout_s: float = 60) -> Iterator[Size]:
    """Connect this process to Ray for the length of the block, and yield how large the cluster is.

    Args:
        address: ``host:port`` of a running cluster's head; None starts one on loopback, which ends with the block.
        at_least: what has to be there before work starts.
        timeout_s: how long to wait for the head, then for ``at_least``, then for the nodes' versions.

    Raises:
        ClusterUnusable: no cluster answers at ``address``, it is another one, it is too small, or this process is in
            such a block already.
        VersionsDiffer: its nodes do not run what this process runs.
    """
    if address is not None:
        _wait_for_head(*_split(address), timeout_s)
    elif at_least.nodes > 1:
        raise ClusterUnusable(
            f"{at_least} were asked for, and a Ray of the run's own has this machine only: name a cluster's head in"
            " PRIVASIS_RAY_ADDRESS, or ask for one node (nodes in the run file)"
        )
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        raise ClusterUnusable("this process is connected to Ray already: leave that cluster first")
    try:
        if address is None:
            _start()
        else:
            _attach(address)
        size = wait_for(at_least, timeout_s if address is not None else min(OWN_S, timeout_s))
        if address is not None:
            check_versions(timeout_s)
        yield size
    finally:
        if "ray" in sys.modules:  # else a signal came while it was imported, and importing it again would fail
            sys.modules["ray"].shutdown()


def wait_for(at_least: Size, timeout_s: float) -> Size:
    """Wait until the connected cluster has ``at_least``, and return what it has.

    Raises:
        ClusterUnusable: it has less after ``timeout_s``.
    """
    import ray

    end = time.monotonic() + timeout_s
    while True:
        nodes = sum(node["Alive"] for node in ray.nodes())  # type: ignore[no-untyped-call]
        resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
        size = Size(nodes, resources.get("CPU", 0.0), resources.get("GPU", 0.0))
        if size.covers(at_least):
            return size
        if time.monotonic() > end:
            raise ClusterUnusable(
                f"Ray has {size} after {timeout_s:g} s, and {at_least} were asked for: add what is missing, or ask for"
                " less (nodes, workers and the engines' GPUs in the run file)"
            )
        time.sleep(0.2)


def prepare_environment() -> None:
    """Set what a cluster of ours is started with, except what a person has set. Call it before Ray is imported."""
    for name, value in LOCAL_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # Without a token in the environment, Ray would write one into the home directory.
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _start() -> None:
    prepare_environment()
    give_way()  # before Ray starts its processes, which inherit it
    import ray

    with _sigterm_kept():
        try:
            ray.init(
                address="local",  # None would follow RAY_ADDRESS
                object_store_memory=OBJECT_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except Exception as error:  # Ray raises just that when its processes take more than 30 s
            raise ClusterUnusable(f"Ray did not start: {error} Is this machine very busy? Run it again") from error
    host, _ = _split(ray.get_runtime_context().gcs_address)
    if host != LOOPBACK:
        raise ClusterUnusable(f"Ray listens on {host}, not on {LOOPBACK}: import ray only inside cluster()")


def _attach(address: str) -> None:
    import ray

    with _sigterm_kept():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ray.exceptions.RayError) as error:
            raise ClusterUnusable(f"Ray at {address}: {error}: is this machine one of its nodes?") from error
    actual = ray.get_runtime_context().gcs_address
    if not _is_same(address, actual):
        raise ClusterUnusable(f"asked for Ray at {address}, connected to {actual}: name the head by its own address")


def _wait_for_head(host: str, port: int, timeout_s: float) -> None:
    # Ray itself would wait for minutes, and end the process rather than raise.
    end = time.monotonic() + timeout_s
    while True:
        try:
            socket.create_connection((host, port), timeout=timeout_s).close()
        except OSError as error:
            if time.monotonic() > end:
                raise ClusterUnusable(f"no Ray cluster answers at {host}:{port} ({error}): is its head up?") from error
            time.sleep(0.2)
        else:
            return


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        # "auto" may find a stranger's cluster, and a ray:// client keeps the driver outside, far from its workers
        raise ClusterUnusable(f"{address!r} is not the host:port of a Ray head")
    return host, int(port)


def _is_same(asked: str, actual: str) -> bool:
    (host, port), (actual_host, actual_port) = _split(asked), _split(actual)
    addresses = {str(info[4][0]) for info in socket.getaddrinfo(host, port)}
    # Ray knows a head on this machine by its outer address, a person by "localhost".
    return port == actual_port and (actual_host in addresses or LOOPBACK in addresses)


@contextmanager
def _sigterm_kept() -> Iterator[None]:
    """Undo Ray's SIGTERM handler, which exits with the signal's number and drains nothing."""
    if threading.current_thread() is not threading.main_thread():  # then Ray leaves the handler alone, too
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
