"""Refuses a body that is too large before it is read, whatever its headers say."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOO_LARGE = 413


class BodyLimit:
    """ASGI middleware: counts the bytes as they come; a header that promises too many is enough to refuse."""

    def __init__(self, app: ASGIApp, body_bytes: int) -> None:
        self._app, self._most = app, body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = 0
        promised = dict(scope["headers"]).get(b"content-length", b"0")

        async def counted() -> Message:
            nonlocal seen
            if promised.isdigit() and int(promised) > self._most:
                raise self._refusal()
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise self._refusal()
            return message

        await self._app(scope, counted, send)

    def _refusal(self) -> HTTPException:
        # Starlette closes the connection after it, as the rest of the body is still to come.
        return HTTPException(TOO_LARGE, f"at most {self._most} bytes are taken", headers={"Connection": "close"})
