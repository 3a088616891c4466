"""Every page of the browser over a root whose every text is a script: what is shown, found, escaped and refused."""

import logging
import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from flows.browse.app import create_browser
from flows.browse.stages import STAGES
from infra.web.access import Access
from tests.flows.browse.tiny import EVIL, commit, record, reject, store, tiny_root

LIST = "/d/letters/rows/records"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_root(tmp_path_factory.mktemp("root"))


@pytest.fixture(scope="module")
def client(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with browser(root, tmp_path_factory.mktemp("cache")) as opened:
        yield opened


def browser(root: Path, cache: Path, access: Access | None = None) -> TestClient:
    app = create_browser(root, access or Access(None), cache)
    return TestClient(app, base_url="http://127.0.0.1:8090", follow_redirects=False)


def indexed(client: TestClient, table: str, dataset: str = "letters") -> None:
    until = time.monotonic() + 30
    while not client.get(f"/d/{dataset}/rows/{table}/progress").json()["complete"]:
        assert time.monotonic() < until
        time.sleep(0.02)


def links(text: str) -> set[str]:
    return {unescape(link) for link in re.findall(r'href="([^"]*)"', text)}


def rows(text: str) -> list[int]:
    return [int(index) for index in re.findall(r'<tr data-row><td class="lead"><a href="[^"]*/(\d+)\?', text)]


def found(client: TestClient, query: str, table: str = "records") -> list[int]:
    indexed(client, table)
    answer = client.get(f"/d/letters/rows/{table}?{query}")
    assert answer.status_code == 200
    return rows(answer.text)


def test_every_page_that_a_link_leads_to_is_there_and_holds_no_script_of_a_row(client: TestClient) -> None:
    seen, to_see = set[str](), ["/"]
    while to_see:
        address = to_see.pop()
        if address in seen or address.startswith("#"):
            continue
        seen.add(address)
        answer = client.get(address)
        assert answer.status_code in (200, 303), address
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert "<script>alert" not in answer.text, address
            assert "<b>bold" not in answer.text, address
            assert "\x1b" not in answer.text, address
            assert "\u202e" not in answer.text, address
            assert " style=" not in answer.text, address
            assert re.findall(r"<script(?! src=)", answer.text) == [], address
            to_see += sorted(links(answer.text) - seen)
    kinds = {re.sub(r"\?.*", "", address) for address in seen}
    for address in (
        *("/", "/d/letters", "/d/letters/charts", "/d/letters/shards/records", "/d/letters/shards/evaluations.by-m"),
        *(LIST, f"{LIST}/1", "/d/letters/rows/rejects/2", "/d/letters/rows/triplets/1", "/d/letters/rows/splits/1"),
        *("/d/letters/rows/triplet_rejects/0", "/d/letters/rows/evaluations.by-m/1"),
        *("/d/texts/rows/scores/0", "/d/texts/rows/score_rejects/1"),
    ):
        assert address in kinds
    assert all(re.match(r"/(?!/)", address) for address in seen)


def test_a_record_is_shown_with_its_marks_steps_and_cost(client: TestClient) -> None:
    text = client.get(f"{LIST}/1").text
    evil = EVIL.replace("'", "&#39;").replace("<", "&lt;").replace(">", "&gt;")
    assert f'data-says="key{evil}"' in text
    assert "group" + evil in text
    assert "⟨U+001B⟩" in text
    assert "the judge preferred the revision" in text
    assert "+0.2500" in text
    assert "$0.5000" in text
    assert "abababababababab" in text


def test_the_pages_of_one_record_lead_to_each_other(client: TestClient) -> None:
    for page in ("records/1", "triplets/1", "evaluations.by-m/1"):
        there = links(client.get(f"/d/letters/rows/{page}").text)
        assert {f"/d/letters/rows/{other}/1" for other in ("records", "triplets", "evaluations.by-m")} <= there


def test_previous_and_next_walk_through_all_rows_across_shards(client: TestClient) -> None:
    walked, address = [0], f"{LIST}/0"
    while following := re.search(r'href="([^"]*)" data-key="j ', client.get(address).text):
        address = unescape(following[1])
        walked.append(int(re.sub(r".*/(\d+)\?.*", r"\1", address)))
    assert walked == [0, 1, 3, 4, 5]
    back = re.search(r'href="([^"]*)" data-key="k ', client.get(address).text)
    assert back is not None
    assert "/4?" in back[1]


def test_neighbours_of_what_was_found_are_what_was_found(client: TestClient) -> None:
    assert found(client, "q=letter&f.language=English") == [0, 3]
    page = client.get(f"{LIST}?q=letter&f.language=English").text
    first = next(link for link in links(page) if "/0?" in link)
    assert first == f"{LIST}/0?q=letter&f.language=English&at=0"
    following = re.search(r'href="([^"]*)" data-key="j ', client.get(first).text)
    assert following is not None
    assert unescape(following[1]) == f"{LIST}/3?q=letter&f.language=English&at=1"
    assert 'data-key="j ' not in client.get(unescape(following[1])).text


@pytest.mark.parametrize(
    ("query", "indices"),
    [
        ("", [0, 1, 3, 4, 5]),
        ("q=letter", [0, 3, 5]),
        ("q=%22blood+pressure%22", [4]),
        ("q=%22pressure+blood%22", []),
        ("q=jose", [4]),
        ("q=letter+-german", [0, 3, 5]),  # of the text, not of its language
        ("q=bil*", [4]),
        ("q=r-00000003", [3]),
        ("q=%3Cscript%3E", [1]),
        ("q=%22%29+OR+%281", []),  # what would be syntax is words
        ("about=group", [1]),
        ("f.language=German", [5]),
        ("f.type=letter", [0, 3, 4, 5]),
        ("f.type=nothing", []),
        ("least=7", [0, 3, 4, 5]),
        ("least=0&most=6", [1]),
        ("q=letter&f.language=German&most=100", [5]),
        ("f.unknown=1", [0, 1, 3, 4, 5]),
    ],
)
def test_search_and_filters_find_what_they_say(client: TestClient, query: str, indices: list[int]) -> None:
    assert found(client, query) == indices


def test_rejects_are_counted_and_found_by_reason(client: TestClient) -> None:
    assert found(client, "f.reason=refusal", "triplet_rejects") == [0]
    assert found(client, "f.reason=" + "%3Cscript%3E", "rejects") == []
    assert found(client, "q=alert", "rejects") == [2]


def test_evaluations_are_found_by_the_gravest_outcome(client: TestClient) -> None:
    assert found(client, "f.outcome=direct", "evaluations.by-m") == [1]
    text = client.get("/d/letters/rows/evaluations.by-m/1").text
    assert '<mark class="leak"' in text
    assert "was to stay, and the clean text does not tell it" in text


def test_a_heat_map_colours_by_surprise(client: TestClient) -> None:
    text = client.get("/d/texts/rows/scores/0").text
    assert re.search(r'<span class="h0" data-says="NLL 0.25 nats">Hi </span>', text)
    assert 'class="h7 l" data-says="NLL 9.00 nats' in text


def test_a_search_that_means_nothing_keeps_the_form_and_says_why(client: TestClient) -> None:
    answer = client.get(f"{LIST}?q=-letter")
    assert answer.status_code == 422
    assert "add a word" in answer.text
    assert 'value="-letter"' in answer.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/d/none", 404),
        ("/d/%2e%2e/rows/records", 404),
        ("/d/..%2fletters", 404),
        ("/d/letters%2f..%2fletters", 404),
        ("/d/.hidden", 404),
        ("/d/letters/rows/none", 404),
        ("/d/letters/rows/scores", 404),
        ("/d/letters/rows/evaluations.none", 404),
        ("/d/letters/rows/evaluations...", 404),
        ("/d/letters/rows/records.by-m", 404),
        ("/d/letters/shards/none", 404),
        ("/d/letters/shards/records?state=none", 422),
        (f"{LIST}/2", 404),  # it became a reject
        (f"{LIST}/99", 404),
        (f"{LIST}/-1", 404),
        (f"{LIST}/x", 422),
        (f"{LIST}/9999999999999999999999", 404),
        (f"{LIST}?page=x", 422),
        (f"{LIST}?page=99999999999999999999", 422),
        (f"{LIST}?least=-1", 422),
        (f"{LIST}?from=part-00000000-00000009", 404),
        (f"{LIST}/id/none", 404),
        ("/d/texts/charts", 404),
        ("/own/../app.py", 404),
        ("/own/%2e%2e/app.py", 404),
    ],
)
def test_what_is_not_there_is_told_and_nothing_outside_is_opened(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert "Traceback" not in answer.text


def test_a_link_out_of_the_root_is_no_data_set(tmp_path: Path) -> None:
    tiny_root(tmp_path / "outside")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "outside" / "letters")
    commit(store(inside, "own", "records"), 0, 1, {"records": [record(0)]})
    (inside / "own" / "triplets").symlink_to(tmp_path / "outside" / "letters" / "triplets")
    (inside / "own" / "manifest" / "triplets").mkdir()
    with browser(inside, tmp_path / "cache") as opened:
        text = opened.get("/").text
        assert "/d/link" not in text
        assert "a link to somewhere else" in text
        assert opened.get("/d/link").status_code == 404
        assert opened.get("/d/own/rows/triplets/1").status_code == 404


def test_pages_tile_the_list_without_gap_or_repeat(tmp_path: Path) -> None:
    made = store(tmp_path / "root", "many", "records")
    for first in range(0, 130, 26):  # 5 shards of 26, every 13th row no record: pages of 50 cut through shards
        kept = [record(index) for index in range(first, first + 26) if index % 13]
        rejects = [reject(index) for index in range(first, first + 26) if not index % 13]
        commit(made, first, first + 26, {"records": kept, "rejects": rejects})
    with browser(tmp_path / "root", tmp_path / "cache") as opened:
        indexed(opened, "records", "many")
        expected = [index for index in range(130) if index % 13]
        for query in ("", "&q=letter"):
            pages = [rows(opened.get(f"/d/many/rows/records?page={page}{query}").text) for page in (1, 2, 3, 4)]
            assert [len(page) for page in pages] == [50, 50, 20, 0]
            assert [index for page in pages for index in page] == expected
        answer = opened.get("/d/many/rows/records?from=part-00000078-00000104")
        assert answer.headers["location"] == "/d/many/rows/records?page=2"  # 72 records stand before it
        assert "1 to 50 of 120" in opened.get("/d/many/rows/records").text


def test_shards_are_told_by_state_and_trouble_hides_no_other(tmp_path: Path) -> None:
    root = tmp_path / "root"
    made = store(root, "letters", "records")
    for first in range(0, 12, 2):
        commit(made, first, first + 2, {"records": [record(first), record(first + 1)]}, spec_hash=f"{first > 0:064d}")
    layout = made.layout
    (layout.manifest / "part-00000004-00000006.json").write_text("{")
    (layout.tables["records"] / "part-00000006-00000008.parquet").unlink()
    (layout.manifest / "part-00000008-00000010.json").unlink()
    with made.acquire(made.manifest.shards()[-1]), browser(root, tmp_path / "cache") as opened:
        text = opened.get("/d/letters/shards/records").text
        states = re.findall(r'<tr data-row><th scope="row">.*?(part-\d+-\d+).*?class="state (\w+)"', text, re.DOTALL)
        assert [state for _, state in states] == ["stale", "committed", "damaged", "missing", "open", "committed"]
        assert opened.get("/d/letters/rows/records/3").status_code == 200
        assert opened.get("/d/letters/rows/records/6").status_code == 500
        only = opened.get("/d/letters/shards/records?state=open").text
        assert re.findall(r"part-\d+-\d+", only) == ["part-00000008-00000010"]


def test_what_is_committed_later_is_seen_and_found(tmp_path: Path) -> None:
    root = tmp_path / "root"
    made = store(root, "letters", "records")
    commit(made, 0, 2, {"records": [record(0), record(1)]})
    with browser(root, tmp_path / "cache") as opened:
        indexed(opened, "records")
        commit(made, 2, 4, {"records": [record(2, "an early bird"), record(3)]})
        assert found(opened, "q=bird") == [2]
        commit(made, 0, 2, {"records": [record(0, "a late bird"), record(1)]})
        assert found(opened, "q=bird") == [0, 2]
        assert found(opened, "q=bird&f.type=letter") == [0, 2]
        assert rows(opened.get(LIST).text) == [0, 1, 2, 3]


def test_others_need_the_token_for_everything(root: Path, tmp_path: Path) -> None:
    access = Access("t" * 43)
    with browser(root, tmp_path, access) as opened:
        for path in ("/", LIST, f"{LIST}/1", "/own/browse.css", f"{LIST}/progress"):
            assert opened.get(path).status_code == 401
        assert opened.get(f"/?token={access.token}").status_code == 303
        assert opened.get("/").status_code == 200


def test_nothing_of_a_row_is_logged(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for address in (f"{LIST}/1", f"{LIST}?q=alert", f"{LIST}?q=-alert", "/d/letters/rows/rejects/2"):
            client.get(address)
    said = "".join(message for message in caplog.messages if "HTTP Request" not in message)  # of the test's own client
    assert "alert" not in said


def test_nothing_is_written_into_the_root(tmp_path: Path) -> None:
    root = tiny_root(tmp_path / "root")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    with browser(root, tmp_path / "cache") as opened:
        for address in ("/", "/d/letters", LIST, f"{LIST}/1", "/d/letters/shards/records", "/d/letters/charts"):
            assert opened.get(address).status_code == 200
        indexed(opened, "records")
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_stages_and_tables_are_those_of_the_shards_command() -> None:
    from flows.commands.stages import _known

    known = {stage: dict(tables) for stage, (tables, _) in _known().items()}
    ours = {stage: dict(tables) for stage, tables in STAGES.items() if stage != "evaluations"}
    assert known == ours


def test_a_stage_that_is_not_known_is_told(tmp_path: Path) -> None:
    commit(store(tmp_path, "letters", "records"), 0, 1, {"records": [record(0)]})
    (tmp_path / "letters" / "manifest" / "later").mkdir()
    with browser(tmp_path, tmp_path / "cache") as opened:
        assert "does not know the stage later" in opened.get("/d/letters").text


def test_an_empty_root_says_how_to_fill_it(tmp_path: Path) -> None:
    with browser(tmp_path, tmp_path / "cache") as opened:
        assert "privasis synthesize" in opened.get("/").text
