"""Who may see a local web application: this machine alone, or whoever holds the token.

On loopback no token is needed, but a web page that somebody has open could point a name of its own at 127.0.0.1 and
read from there (DNS rebinding): so requests under any other host name are refused. Any other address needs a token. It
is shown once, in the address to open; the first request with it gets a cookie.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from infra.service.access import is_loopback

TOKEN_BYTES = 32
_LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(frozen=True, slots=True)
class Access:
    """What a request has to show.

    Attributes:
        token: the secret; None where only this machine can reach the application.
    """

    token: str | None

    @classmethod
    def to(cls, host: str) -> "Access":
        """Return what it takes to look at an application that listens at ``host``: a new token unless on loopback."""
        return cls(None if is_loopback(host) else secrets.token_urlsafe(TOKEN_BYTES))

    @property
    def cookie(self) -> str:
        """The cookie's name: of this token alone, for cookies of one host are shared by all its ports."""
        return f"privasis-{hashlib.sha256((self.token or '').encode()).hexdigest()[:12]}"

    def address(self, host: str, port: int, page: str = "") -> str:
        """Return what to open in a browser, the token included."""
        shown = f"[{host}]" if ":" in host else host
        query = f"?{urlencode({'token': self.token})}" if self.token else ""
        return f"http://{shown}:{port}/{page}{query}"

    def knows_host(self, header: str | None) -> bool:
        """Tell whether a request was sent to a name that is ours; with a token any will do."""
        if self.token is not None:
            return True
        name = (header or "").lower()
        if not name.endswith("]"):  # of an IPv6 address without a port
            name = name.rpartition(":")[0] or name
        return name in _LOOPBACK_NAMES

    def shows_token(self, cookies: str) -> bool:
        """Tell whether the header ``Cookie`` holds the token."""
        if self.token is None:
            return True
        jar: SimpleCookie = SimpleCookie()
        try:
            jar.load(cookies)
        except CookieError:  # another program's cookie of this host
            return False
        shown = jar.get(self.cookie)
        return shown is not None and self.is_token(shown.value)

    def is_token(self, shown: str) -> bool:
        """Compare in a time that tells nothing of the token."""
        return self.token is not None and secrets.compare_digest(shown.encode(), self.token.encode())

    def without_token(self, path: str, query: str) -> str:
        """Return where to go once the token is in a cookie: the same address without it."""
        rest = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "token"]
        return f"/{path.lstrip('/')}" + (f"?{urlencode(rest)}" if rest else "")


def same_origin(headers: Mapping[str, str]) -> bool:
    """Tell whether a request that changes something comes from one of our own pages.

    Browsers send ``Origin`` with every such request; a program that sends none is no web page.
    """
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host", "")
