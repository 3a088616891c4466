"""``python -m infra.engines.simulator``: serves until its standard input closes, so that it ends with its starter."""

import argparse
import asyncio
import os
import signal
import sys
import threading

import orjson
from aiohttp import web
from pydantic import ValidationError

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.server import Server

_HOST = "127.0.0.1"
_BACKLOG = 4096  # a load run opens a thousand connections at once


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m infra.engines.simulator", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one; the first line printed says which")
    for name, field in SimulatorConfig.model_fields.items():
        count = "+" if name == "faults" else None
        parser.add_argument(
            f"--{name.replace('_', '-')}", nargs=count, default=argparse.SUPPRESS, help=field.description
        )
    options = vars(parser.parse_args())
    port = options.pop("port")
    try:
        config = SimulatorConfig.model_validate(options)
    except ValidationError as error:
        parser.error(str(error))
    asyncio.run(serve(config, port))


async def serve(config: SimulatorConfig, port: int) -> None:
    """Serve on loopback until standard input ends or a signal asks to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    threading.Thread(target=_watch_stdin, args=(loop, stop), daemon=True).start()
    runner = web.AppRunner(
        Server(config).application(),
        access_log=None,
        handler_cancellation=True,  # a call that hangs ends when its client leaves
        shutdown_timeout=0,
    )
    await runner.setup()
    await web.TCPSite(runner, _HOST, port, backlog=_BACKLOG).start()
    address = {"base_url": f"http://{_HOST}:{runner.addresses[0][1]}/v1", "model": config.model}
    sys.stdout.write(f"{orjson.dumps(address).decode()}\n")
    sys.stdout.flush()
    await stop.wait()
    await runner.cleanup()


def _watch_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Wait for the end of standard input; unbuffered, because a lock held by a daemon thread breaks the exit."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    loop.call_soon_threadsafe(stop.set)


if __name__ == "__main__":
    main()
