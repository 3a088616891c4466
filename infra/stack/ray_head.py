"""The stack's Ray head: how it is started, whether it serves, what it leaves in the folder for temporary files."""

import http.client
import json
import os
import shutil
import socket
import sys
import tempfile
import urllib.request
from pathlib import Path

from infra.stack.config import LOOPBACK, StackConfig
from infra.stack.folder import StackFolder

OBJECT_STORE_BYTES = 200_000_000  # as in `infra.ray.cluster`: what travels is small
_TIMEOUT_S = 5.0


class TemporaryFolderTaken(Exception):
    """Somebody else has the folder for the head's sockets; the message names it."""


def temporary_folder(config: StackConfig) -> Path:
    """Return where the head has its sockets and logs; the path of a socket has to be short."""
    return Path(tempfile.gettempdir()) / f"privasis-ray-{os.getuid()}-{config.ray_port}"


def make_temporary_folder(config: StackConfig) -> None:
    """Make that folder, for our eyes only.

    Raises:
        TemporaryFolderTaken: there is one that is another user's.
    """
    folder = temporary_folder(config)
    folder.mkdir(mode=0o700, exist_ok=True)
    there = folder.lstat()
    if folder.is_symlink() or there.st_uid != os.getuid():
        raise TemporaryFolderTaken(f"{folder} is another user's: delete it, or choose another --ray-port")
    folder.chmod(0o700)


def clear_temporary_folder(config: StackConfig) -> None:
    """Delete what the head has left: some megabytes of logs for each start."""
    shutil.rmtree(temporary_folder(config), ignore_errors=True)  # a log may still be written


def head_command(config: StackConfig) -> tuple[str, ...]:
    """Return the command that is the head until it ends."""
    ports = {
        "--port": config.ray_port,
        "--dashboard-port": config.ray_dashboard_port,
        "--ray-client-server-port": _free_port(),  # cannot be left out, and its default is everybody's
        "--dashboard-agent-listen-port": _free_port(),
        "--min-worker-port": 0,  # any that is free, not one of a fixed range
        "--max-worker-port": 0,
    }
    chosen = [text for name, port in ports.items() for text in (name, str(port))]
    size = () if config.cpus is None else ("--num-cpus", str(config.cpus))
    return (
        *(sys.executable, "-c", "from ray.scripts.scripts import main; main()"),
        *("start", "--head", "--block", "--disable-usage-stats", "--include-dashboard", "true"),
        *("--node-ip-address", LOOPBACK, "--dashboard-host", LOOPBACK, *chosen, *size),
        *("--object-store-memory", str(OBJECT_STORE_BYTES), "--temp-dir", str(temporary_folder(config))),
    )


def head_serves(config: StackConfig) -> bool:
    """Tell whether the head takes work: its ports answer long before."""
    token = StackFolder(config.home).ray_token.read_text(encoding="utf-8").strip()
    request = urllib.request.Request(
        f"http://{LOOPBACK}:{config.ray_dashboard_port}/nodes?view=summary",
        headers={"Authorization": f"Bearer {token}"},
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy would be asked for our own server
    try:
        with direct.open(request, timeout=_TIMEOUT_S) as answer:
            nodes = json.load(answer)["data"]["summary"]
    except (OSError, http.client.HTTPException, ValueError, KeyError):  # not there yet, or not all of it
        return False
    return any(node.get("raylet", {}).get("state") == "ALIVE" for node in nodes)


def _free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
