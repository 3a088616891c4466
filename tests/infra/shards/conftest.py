import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.settings import settings
from infra.shards.location import Location, ObjectPath
from tests.infra.shards import object_store
from tests.infra.shards.object_store import BUCKET, Store


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: processes die in these tests, machines do not. Tests of syncing put in their own."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture(scope="session")
def server() -> Iterator[Store]:
    """A server of the S3 protocol, for the whole session: use ``bucket`` or ``root``."""
    with object_store.served() as store:
        yield store


@pytest.fixture(scope="module")
def _client() -> Iterator[None]:
    """Keep the client from one test to the next, and from no module to the next."""
    yield
    object_store.forget()


@pytest.fixture
def bucket(server: Store, _client: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Store]:
    """The server, with this process pointed at it; places of other tests are other prefixes of its bucket."""
    object_store.use(server, monkeypatch, tmp_path / "scratch")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")  # the client waits up to a second before the second, two before a third
    server.requests.clear()
    yield server
    server.faults.clear()
    server.ignores_conditions = False
    settings.cache_clear()


@pytest.fixture(params=["folder", "object store"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """Where data go: a folder, then a prefix of a bucket."""
    if request.param == "folder":
        return tmp_path / "root"
    request.getfixturevalue("bucket")
    return ObjectPath(BUCKET, f"{tmp_path.name}/root")
