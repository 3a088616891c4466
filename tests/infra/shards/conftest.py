import os

import pytest


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: processes die in these tests, machines do not. Tests of syncing put in their own."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)
