"""Who may ask: whoever shows the token, where there is one."""

import secrets
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

from fastapi import HTTPException, Request

LEAST_CHARACTERS = 16  # of a token: shorter ones can be guessed


class NotProtected(ValueError):
    """The service would be open to others; the message says what to do."""


def is_loopback(host: str) -> bool:
    """Whether ``host`` can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def check_protected(host: str, token: str | None) -> None:
    """Make sure that only callers with a token reach the service from other machines.

    Raises:
        NotProtected: there is no token, or one that can be guessed.
    """
    if token is None and not is_loopback(host):
        raise NotProtected(f"{host}: others can reach it: name with --token-env a variable that holds a token")
    if token is not None and len(token) < LEAST_CHARACTERS:
        raise NotProtected(f"the token has {len(token)} characters: give it {LEAST_CHARACTERS} at least")


def bearer(token: str | None) -> Callable[[Request], Awaitable[None]]:
    """Return a check of the header ``Authorization: Bearer ...``; without a token everyone may ask."""
    wanted = f"Bearer {token}".encode()

    async def check(request: Request) -> None:
        shown = request.headers.get("Authorization", "").encode()
        if token is not None and not secrets.compare_digest(shown, wanted):
            raise HTTPException(
                401, "show the token: Authorization: Bearer ...", headers={"WWW-Authenticate": "Bearer"}
            )

    return check
