"""The command against a Responses endpoint on loopback: a server in a thread that knows one of the people."""

import asyncio
import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web
from typer.testing import CliRunner

from flows.cli import app
from tasks.identities.check import SEARCHABLE
from tests.flows.conftest import MadeSet

run = CliRunner()


class Web:
    """Finds whoever is named in ``known``; searches only when ``searches``; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.known: set[str] = set()
        self.searches = True
        self.refuses = False
        self.status = 200

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.json()
        if self.status != 200:
            return web.json_response({"error": {"message": "no", "code": "invalid_api_key"}}, status=self.status)
        name = re.search(r"^full name: (.*)$", body["input"][-1]["content"], re.MULTILINE)
        assert name is not None
        self.asked.append(name[1])
        verdict = {"verdict": "no_match", "reason": "Nobody of this name."}
        if name[1] in self.known:
            verdict = {"verdict": "similar_name", "reason": "A baker in Leeds."}
        note = {"type": "url_citation", "url": "https://bakers.test/leeds"}
        content = {"type": "output_text", "text": json.dumps(verdict), "annotations": [note]}
        if self.refuses:
            content = {"type": "refusal", "refusal": "I look nobody up."}
        output: list[dict[str, Any]] = [{"type": "message", "content": [content]}]
        if self.searches:
            output.insert(0, {"type": "web_search_call", "status": "completed"})
        usage = {"input_tokens": 1000, "output_tokens": 100}
        return web.json_response({"status": "completed", "error": None, "output": output, "usage": usage})


@pytest.fixture
def served() -> Iterator[tuple[Web, str]]:
    it, loop = Web(), asyncio.new_event_loop()
    application = web.Application()
    application.add_routes([web.post("/v1/responses", it.handle)])
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    loop.run_until_complete(runner.setup())
    loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield it, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def folder(made_set: MadeSet, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_set.folder, tmp_path / "tiny"))


def check(folder: Path, url: str, sample: int) -> Any:
    arguments = ["check-identities", str(folder), "-n", str(sample), "--base-url", url, "--key", "WEB_KEY"]
    return run.invoke(app, arguments, env={"WEB_KEY": "k"})


def test_a_sample_is_checked_kept_and_shown_and_a_larger_one_goes_on(folder: Path, served: tuple[Web, str]) -> None:
    web_, url = served
    assert check(folder, url, 3).exit_code == 0
    assert len(web_.asked) == 3
    assert check(folder, url, 5).exit_code == 0
    assert len(web_.asked) == 5  # nobody twice
    table = pl.read_parquet(folder / "identity_checks.parquet")
    assert table["verdict"].to_list() == ["no_match"] * 5
    assert table["cost_usd"].to_list() == pytest.approx([(1000 * 2.00 + 100 * 8.00) / 1e6] * 5)  # gpt-4.1's list price
    assert table["searches"].to_list() == [1] * 5


def test_whoever_is_found_is_listed_with_the_reason(folder: Path, served: tuple[Web, str]) -> None:
    web_, url = served
    people = pl.read_parquet(sorted((folder / "records").glob("*.parquet")))["profile"].struct.unnest()
    web_.known = {f"{people['first_name'][0]} {people['last_name'][0]}"}
    result = check(folder, url, 12)
    assert re.search(r"similar_name +1 +8\.3%", result.stdout)
    assert "similar_name: A baker in Leeds." in result.stdout
    row = pl.read_parquet(folder / "identity_checks.parquet").filter(pl.col("verdict") == "similar_name")
    assert row["sources"].to_list() == [["https://bakers.test/leeds"]]


def test_numbers_of_documents_are_not_sent() -> None:
    assert not {"id_number", "passport_number", "income_class", "blood_type"} & set(SEARCHABLE.values())


def test_an_answer_without_a_search_counts_as_none_and_is_asked_again(folder: Path, served: tuple[Web, str]) -> None:
    web_, url = served
    web_.searches = False
    assert re.search(r"unanswered +2 +100\.0%", check(folder, url, 2).stdout)
    assert pl.read_parquet(folder / "identity_checks.parquet")["verdict"].to_list() == ["unanswered"] * 2
    web_.searches = True
    check(folder, url, 2)
    assert pl.read_parquet(folder / "identity_checks.parquet")["verdict"].to_list() == ["no_match"] * 2


def test_a_refusal_is_no_answer_and_costs_what_it_costs(folder: Path, served: tuple[Web, str]) -> None:
    web_, url = served
    web_.refuses = True
    assert re.search(r"unanswered +1 +100\.0%", check(folder, url, 1).stdout)
    row = pl.read_parquet(folder / "identity_checks.parquet").row(0, named=True)
    assert (row["reason"], row["searches"], row["tokens"]["prompt"]) == ("the model refused", 1, 1000)
    assert row["cost_usd"] == pytest.approx((1000 * 2.00 + 100 * 8.00) / 1e6)


def test_a_key_that_is_not_taken_ends_it_with_a_message(folder: Path, served: tuple[Web, str]) -> None:
    web_, url = served
    web_.status = 401
    result = check(folder, url, 2)
    assert result.exit_code == 3
    assert "the key is wrong" in result.stderr
    assert "verdicts so far" not in result.stderr
    assert not (folder / "identity_checks.parquet").exists()  # nobody was asked


def test_an_error_loses_no_row_that_was_paid_for(folder: Path, served: tuple[Web, str]) -> None:
    web_, url = served
    web_.refuses = True
    check(folder, url, 1)
    before = pl.read_parquet(folder / "identity_checks.parquet")
    web_.status = 401
    result = check(folder, url, 1)
    assert "1 verdict so far in" in result.stderr
    assert pl.read_parquet(folder / "identity_checks.parquet").equals(before)
