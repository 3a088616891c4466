"""Prefect's server with pages that talk to nobody but it: as shipped, they ask an analytics company for settings."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"content-security-policy"


def create_app() -> "FastAPI":
    """Return Prefect's application; a browser that shows its pages connects to the server they came from alone."""
    from prefect.server.api.server import create_app
    from prefect.settings import get_current_settings

    app = create_app()
    app.add_middleware(_OwnServerOnly, api_url=get_current_settings().server.ui.api_url or "")
    return app


class _OwnServerOnly:
    """Adds the policy to each answer.

    Settings that Prefect has (``PREFECT_SERVER_ANALYTICS_ENABLED``) keep its pages from telling what is done with them,
    not from asking, by which the company learns the address of whoever looks.
    """

    def __init__(self, app: "ASGIApp", api_url: str) -> None:
        self._app = app
        # Pages that were opened under another name of this machine ask the API under the name it was given.
        allowed = ["'self'", *(["/".join(api_url.split("/")[:3])] if api_url.startswith("http") else [])]
        sockets = [each.replace("http", "ws", 1) for each in allowed[1:]]
        self._policy = f"connect-src {' '.join([*allowed, *sockets])}".encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        async def with_policy(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, self._policy)]
            await send(message)

        await self._app(scope, receive, with_policy)
