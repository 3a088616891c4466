import socket
from collections.abc import Iterator

import pytest

from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi
from tests.infra.stack.answering import Answering, answering


@pytest.fixture
def server() -> Iterator[Answering]:
    with answering() as running:
        yield running


def test_the_password_is_shown_to_the_server_and_to_nobody_else(server: Answering) -> None:
    server.pages = [{"id": "1"}]
    api = server.api
    assert api.get("/health") == {"id": "1"}
    assert server.asked == [("Basic bWU6cMOkc3M=", "/api/health", None)]
    assert "päss" not in repr(api)


def test_pages_are_read_until_one_is_empty(server: Answering) -> None:
    server.pages = [[{"id": "1"}, {"id": "2"}], [{"id": "3"}], []]
    found = server.api.flow_runs("process", ("RUNNING",))
    assert [run["id"] for run in found] == ["1", "2", "3"]
    assert [body["offset"] for _, _, body in server.asked] == [0, 2, 3]
    assert server.asked[0][2]["work_pools"] == {"name": {"any_": ["process"]}}


@pytest.mark.parametrize("status", [429, 502, 503])
def test_an_answer_that_says_later_is_no_refusal(server: Answering, status: int) -> None:
    server.status = status
    with pytest.raises(ApiAway, match=str(status)):
        server.api.post("/flow_runs/filter", {})


@pytest.mark.parametrize("status", [401, 404, 422, 500])
def test_a_refusal_carries_the_servers_words(server: Answering, status: int) -> None:
    server.status, server.pages = status, [{"detail": "no such pool"}]
    with pytest.raises(ApiRefused, match=f"POST /work_pools/: HTTP {status}: .*no such pool"):
        server.api.post("/work_pools/", {})


def test_no_server_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    api = PrefectApi(f"http://127.0.0.1:{port}/api", "me:pass")
    with pytest.raises(ApiAway):
        api.get("/health")
    assert not api.is_up()
