"""The same pages where the root is a prefix of a bucket."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from flows.browse.app import create_browser
from infra.shards.location import ObjectPath
from infra.web.access import Access
from tests.flows.browse.test_app import found, rows
from tests.flows.browse.tiny import commit, record, reject, store
from tests.infra.shards import object_store
from tests.infra.shards.object_store import BUCKET


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ObjectPath]:
    with object_store.served() as server:
        object_store.use(server, monkeypatch, tmp_path / "scratch")
        yield ObjectPath(BUCKET, "data")
        object_store.forget()


def test_data_sets_of_an_object_store_are_listed_read_and_searched(root: ObjectPath, tmp_path: Path) -> None:
    made = store(root, "letters", "records")
    commit(made, 0, 3, {"records": [record(0), record(2, "a bird")], "rejects": [reject(1)]})
    app = create_browser(root, Access(None), tmp_path / "cache")
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert "/d/letters" in client.get("/").text
        assert client.get("/d/letters").status_code == 200
        assert rows(client.get("/d/letters/rows/records").text) == [0, 2]
        assert found(client, "q=bird") == [2]
        assert "a bird" in client.get("/d/letters/rows/records/2").text
        assert client.get("/d/letters/rows/rejects/1").status_code == 200
        assert "committed" in client.get("/d/letters/shards/records").text
        assert client.get("/d/other").status_code == 404
