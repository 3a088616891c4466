"""Runs a local web application until a signal comes."""

import asyncio
import socket
import sys
import webbrowser

import uvicorn
from fastapi import FastAPI

from infra.service.logs import log_without_texts
from infra.web.access import Access

GRACE_S = 2


def serve_web(
    app: FastAPI, access: Access, host: str, port: int, *, doing: str, open_browser: bool, page: str = ""
) -> None:
    """Listen until SIGINT or SIGTERM, which is raised again when all is closed. Nothing of a request is logged.

    Args:
        app: what to serve.
        access: what it takes to see it; its token is told once, here.
        host: name or address.
        port: 0 takes a free one.
        doing: what the line says that tells the address, such as "Browsing data".
        open_browser: open the address in a person's browser.
        page: where the address leads, without a slash before it.

    Raises:
        OSError: the address is taken, or not ours.
    """
    log_without_texts()
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
        address = access.address(host, listening.getsockname()[1], page)
        sys.stderr.write(f"{doing} at {address} (Ctrl-C ends it)\n")
        sys.stderr.flush()
        config = uvicorn.Config(
            app, access_log=False, log_config=None, timeout_graceful_shutdown=GRACE_S, server_header=False
        )
        if open_browser:
            webbrowser.open(address)
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))
