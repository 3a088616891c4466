"""The door of a local web application, before any route: host name, token, method, and what every answer says."""

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from infra.web.access import Access, same_origin

READ_ONLY = frozenset({"GET", "HEAD"})

# Nothing but our own files, no inline script or style, no frame around us, no form to elsewhere.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PRIVATE = "no-store"  # texts stay out of the browser's files


class Guard:
    """Lets in who may come in."""

    def __init__(self, app: ASGIApp, *, access: Access, methods: Collection[str] = READ_ONLY) -> None:
        self._app = app
        self._access = access
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is not allowed, pass on what is."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # no web sockets here

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", PRIVATE)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, method = Headers(scope=scope), scope["method"]
        if not self._access.knows_host(headers.get("host")):
            return _plain(421, "This application answers to 127.0.0.1 and localhost only.")
        if method not in self._methods:
            return _plain(405, "This application does not take that method.", Allow=", ".join(sorted(self._methods)))
        if method not in READ_ONLY and not same_origin(headers):
            return _plain(403, "That request comes from another site.")
        if self._access.shows_token(headers.get("cookie", "")):
            return None
        return self._welcome(scope) or _plain(401, "Open the address with the token that was printed at the start.")

    def _welcome(self, scope: Scope) -> Response | None:
        """Put a token that is right into a cookie, and out of the address."""
        query = scope["query_string"].decode("latin-1")
        if not self._access.is_token(QueryParams(query).get("token", "")):
            return None
        answer = RedirectResponse(self._access.without_token(scope["path"], query), 303)
        answer.set_cookie(self._access.cookie, self._access.token or "", httponly=True, samesite="strict")
        return answer


def _plain(status: int, message: str, **headers: str) -> Response:
    return PlainTextResponse(f"{message}\n", status, headers=headers)
