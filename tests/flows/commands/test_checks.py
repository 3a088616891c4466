import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from flows.commands.checks import check_answers, check_models, check_settings, make_home
from flows.config import ConfigError, RunConfig
from infra.engines.models import ModelMissing
from infra.llm.connect import Endpoint
from infra.llm.prices import UnknownPrice
from infra.llm.types import BackendUnavailable


def run_with(**engine: object) -> RunConfig:
    return RunConfig.model_validate(
        {"models": [{"engine": engine}, {"engine": {"kind": "simulator"}}], "embedder": SIM}
    )


SIM = {"kind": "simulator"}


class Answers(BaseHTTPRequestHandler):
    status = 200
    seen: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers["Authorization"]))
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"object": "list", "data": []}')

    def log_message(self, *arguments: object) -> None:
        """Keep the tests quiet."""


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Endpoint, list[tuple[str, str | None]]]]:
    seen: list[tuple[str, str | None]] = []
    handler = type("Handler", (Answers,), {"status": request.param, "seen": seen})
    with HTTPServer(("127.0.0.1", 0), handler) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.01,)).start()
        url = f"http://127.0.0.1:{listening.server_port}/v1"
        yield Endpoint(model="m", base_url=url, api_key_env="SOME_KEY"), seen
        listening.shutdown()


@pytest.mark.parametrize("server", [200, 403, 404, 500], indirect=True)
def test_a_server_that_answers_is_there_whatever_it_says_of_its_models(
    server: tuple[Endpoint, list[tuple[str, str | None]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody is there: loopback must not go through it
    endpoint, seen = server
    check_answers(endpoint)
    assert seen == [("/v1/models", "Bearer secret")]


@pytest.mark.parametrize("server", [401], indirect=True)
def test_a_key_that_is_not_taken_is_named_but_not_shown(
    server: tuple[Endpoint, list[tuple[str, str | None]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    with pytest.raises(BackendUnavailable, match=r"m: .*/v1/ does not take the key in SOME_KEY") as caught:
        check_answers(server[0])
    assert "secret" not in str(caught.value)


def test_an_address_where_nobody_answers_is_named() -> None:
    endpoint = Endpoint(model="m", base_url="http://127.0.0.1:9/v1", api_key_env=None)
    with pytest.raises(BackendUnavailable, match=r"m: nothing answers at http://127\.0\.0\.1:9/v1/ \(.*refused"):
        check_answers(endpoint)


def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BackendUnavailable, match="set the environment variable OPENAI_API_KEY"):
        check_models(run_with(kind="openai", model="gpt-4.1-mini"))


def test_a_price_is_wanted_before_a_server() -> None:
    with pytest.raises(UnknownPrice, match="no price known for model 'x'"):
        check_models(run_with(kind="openai", model="x", base_url="http://127.0.0.1:9/v1"))


def test_the_file_of_an_embedded_model_is_looked_for() -> None:
    with pytest.raises(ModelMissing, match=r"gone\.gguf"):
        check_models(run_with(kind="llama_cpp", model="gone.gguf"))


def test_a_simulator_needs_nothing() -> None:
    check_models(run_with(kind="simulator"))


@pytest.mark.parametrize(
    ("synthesis", "said"),
    [
        ({"language": "Klingon"}, "language 'Klingon': not one of Amharic"),
        ({"draws": {"events_shown": 10_000}}, "life events asked for age"),
        ({"draws": {"countries_shown": 10_000}}, "lower countries_shown"),
        ({"draws": {"names": {"first_year": 2018, "last_year": 2018}}}, "2018"),
    ],
)
def test_settings_that_no_list_can_meet_are_named(synthesis: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_settings(RunConfig.model_validate({"synthesis": synthesis}))


def test_the_default_settings_can_be_met() -> None:
    check_settings(RunConfig())


def test_a_place_that_cannot_hold_data_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"file/set: cannot be made \(Not a directory\): choose another place with"):
        make_home(tmp_path / "file" / "set")
