"""Notices what asks for the network, also where the asker swallows the refusal."""

import socket
from typing import Any

import pytest


def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Refuse names and connections from now on, and list what was asked for."""
    asked: list[str] = []

    def refuse(*arguments: Any, **_: Any) -> None:
        asked.append(repr(arguments[:2]))
        raise OSError("the network is closed in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return asked
