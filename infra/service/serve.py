"""Runs the service until a signal comes; what is in work then is finished first."""

import socket
import sys

import uvicorn
from fastapi import FastAPI

from infra.service.logs import log_without_texts


async def serve(app: FastAPI, host: str, port: int, *, grace_s: float) -> None:
    """Listen until SIGINT or SIGTERM, which is raised again when all is closed.

    Args:
        app: what to serve.
        host: name or address.
        port: 0 takes a free one; the address is told on standard error when it can be asked.
        grace_s: how long requests in work may take after the signal.

    Raises:
        OSError: the address is taken, or not ours.
    """
    log_without_texts()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
        config = uvicorn.Config(
            app, access_log=False, log_config=None, timeout_graceful_shutdown=int(grace_s), server_header=False
        )
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"Cleaning at http://{shown}:{listening.getsockname()[1]}, see /docs there\n")
        sys.stderr.flush()
        await uvicorn.Server(config).serve(sockets=[listening])
