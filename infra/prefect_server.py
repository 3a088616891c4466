"""``python -m infra.prefect_server HOME``: a Prefect server of one run, on loopback, with its history under HOME.

Run by ``infra.prefect_local``, which it tells its port, and with which it ends.
"""

import argparse
import asyncio
import contextlib
import fcntl
import os
import socket
from collections.abc import Callable
from pathlib import Path

from infra.engines.child import Parent
from infra.prefect_pages import create_app
from infra.priority import give_way

LOOPBACK = "127.0.0.1"
SETTLE_S = 30.0  # some 20 ms an event, three events a task run

# A run needs the API, the pages to watch it, and what writes task runs down; not what serves deployments and schedules.
SETTINGS = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_CLEANUP_RECONCILER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_FOREMAN_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_REPOSSESSOR_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}


def main() -> None:
    """Serve until the parent ends or a signal comes."""
    parent = Parent()
    give_way()
    parser = argparse.ArgumentParser(prog="python -m infra.prefect_server", description=__doc__)
    parser.add_argument("home", type=Path, help="folder of the database")
    home: Path = parser.parse_args().home.resolve()
    with socket.create_server((LOOPBACK, 0)) as listener:
        port: int = listener.getsockname()[1]
        # Only ours: the settings of a person's own server (its database, its password) are not meant for this one.
        for name in [name for name in os.environ if name.startswith("PREFECT_")]:
            del os.environ[name]
        os.environ |= SETTINGS | {
            "PREFECT_HOME": str(home),
            "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "pages"),  # the default is inside the installed package
            "PREFECT_SERVER_UI_API_URL": f"http://{LOOPBACK}:{port}/api",
        }
        _serve(listener, home / "start.lock", lambda: parent.ready(port=port))


def _serve(listener: socket.socket, lock: Path, report: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        """Reports when it is up, and goes down only when all that it was told is in the database."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            with lock.open("w") as held:
                # Two runs may share the database, but only one at a time may bring it up to date.
                fcntl.flock(held, fcntl.LOCK_EX)
                await super().startup(sockets)
            if self.started:
                report()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await _settle()
            await super().shutdown(sockets)

    # Somebody's browser may hold a connection: it is not waited for.
    Server(uvicorn.Config(create_app(), log_level="warning", timeout_graceful_shutdown=2)).run([listener])


async def _settle() -> None:
    """Wait until the events that were received are worked off: Prefect would drop them, with a traceback for each."""
    from prefect.server.utilities.messaging.memory import METRICS

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SETTLE_S):
            while METRICS["events"]["consumed"] < METRICS["events"]["published"]:  # noqa: ASYNC110 - counters tell nobody
                await asyncio.sleep(0.05)


if __name__ == "__main__":
    main()
