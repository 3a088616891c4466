"""The sheet over HTTP: two reviewers walk through it, and nothing tells them where a text comes from."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from flows.review.app import create_app
from flows.review.log import JudgementLog
from flows.review.reviewers import Reviewers
from infra.web.access import Access
from tasks.reviewing.judgements import latest
from tests.tasks.reviewing.small import ids, small

SHEET, KEY = small()
LOOPBACK = Access(None)
REVIEWERS = Reviewers(door="door", tokens={"ann": "token-of-ann", "ben": "token-of-ben"})


class Reviewing:
    """One reviewer's browser; it keeps everything that it was ever sent."""

    def __init__(self, client: TestClient, token: str) -> None:
        self.client = client
        self.headers = {"Authorization": f"Bearer {token}"}
        self.seen: list[str] = []

    def get(self, path: str) -> dict[str, object]:
        answer = self.client.get(path, headers=self.headers)
        assert answer.status_code == 200, answer.text
        self.seen += [answer.text, str(answer.headers)]
        found: dict[str, object] = answer.json()
        return found

    def order(self) -> list[str]:
        entries = self.get("/api/sheet")["entries"]
        assert isinstance(entries, list)
        return [entry["id"] for entry in entries]

    def say(self, item: str, natural: bool | None, coherent: bool | None, comment: str = "") -> int:
        body = {"natural": natural, "coherent": coherent, "comment": comment}
        answer = self.client.put(f"/api/texts/{item}", json=body, headers=self.headers)
        self.seen += [answer.text, str(answer.headers)]
        return answer.status_code


def client_of(folder: Path, access: Access = LOOPBACK, host: str = "127.0.0.1:8090") -> TestClient:
    app = create_app(SHEET, REVIEWERS, JudgementLog(folder), access)
    return TestClient(app, base_url=f"http://{host}", follow_redirects=False)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with client_of(tmp_path) as made:
        yield made


def test_two_reviewers_walk_through_go_back_and_come_again(tmp_path: Path, client: TestClient) -> None:
    ann, ben = Reviewing(client, "token-of-ann"), Reviewing(client, "token-of-ben")
    assert ann.get("/api/sheet")["reviewer"] == "ann"
    assert sorted(ann.order()) == sorted(ben.order()) == sorted(ids().values())
    for item in ann.order():
        assert ann.say(item, True, None) == 200  # each key press is saved
        assert ann.say(item, True, True) == 200
    first = ann.order()[0]
    assert ann.say(first, True, False, "two dates <b>") == 200  # goes back and changes
    assert ben.say(first, False, False) == 200

    again = Reviewing(client_of(tmp_path), "token-of-ann")  # another server, later
    entries = again.get("/api/sheet")["entries"]
    assert isinstance(entries, list)
    assert entries[0] == {"id": first, "natural": True, "coherent": False, "comment": "two dates <b>"}
    assert all(entry["natural"] and entry["coherent"] for entry in entries[1:])
    assert latest(JudgementLog(tmp_path).read("ben"))[first].natural is False
    assert len(JudgementLog(tmp_path).read("ann")) == 9  # nothing is ever written over


def test_no_answer_tells_where_a_text_comes_from(client: TestClient) -> None:
    ann = Reviewing(client, "token-of-ann")
    for item in ann.order():
        ann.get(f"/api/texts/{item}")
        ann.say(item, True, True)
    pages = [
        "/",
        "/own/review.js",
        "/own/review.css",
        "/static/web.js",
        "/none",
        "/key",
        "/review.key.json",
        "/api/key",
    ]
    pages += ["/sheet.json", "/own/../app.py", "/static/%2e%2e/app.py", "/api/texts/0000000000", "/reviewers.json"]
    seen = "\n".join(ann.seen + [client.get(path).text for path in pages]).lower()
    for hidden in ("synthetic", "human", "data/letters", "mail.jsonl", KEY.sheet[::-1], "token-of", "seed", "longer"):
        assert hidden not in seen, hidden
    for entry in KEY.entries:
        assert f'"{entry.name}"' not in seen
        assert entry.origin not in seen


def test_both_sources_are_answered_in_the_same_form(client: TestClient) -> None:
    ann = Reviewing(client, "token-of-ann")
    shapes = set()
    for item in ann.order():
        answer = client.get(f"/api/texts/{item}", headers=ann.headers)
        names = frozenset(answer.headers) - {"content-length"}
        shapes.add((answer.status_code, frozenset(answer.json()), names))
    assert len(shapes) == 1


def test_texts_are_sent_as_data_with_control_characters_named(client: TestClient) -> None:
    ann = Reviewing(client, "token-of-ann")
    answer = client.get(f"/api/texts/{ids()['mail.jsonl:2']}", headers=ann.headers)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()["text"] == "<script>alert('x')</script> & so on"
    script = client.get("/own/review.js").text
    assert "innerHTML" not in script
    assert "insertAdjacentHTML" not in script
    assert client.get("/").headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")


def test_without_a_token_of_a_reviewer_there_is_nothing_to_read_or_write(tmp_path: Path, client: TestClient) -> None:
    item = ids()["r1"]
    for token in ("", "token-of-an", "token-of-annn", "door", "tokén"):
        headers = {"Authorization": f"Bearer {token}".encode()}
        assert client.get("/api/sheet", headers=headers).status_code == 401
        assert client.get(f"/api/texts/{item}", headers=headers).status_code == 401
        assert client.put(f"/api/texts/{item}", headers=headers, json={}).status_code in (401, 422)
    assert client.get("/api/sheet").status_code == 401
    assert JudgementLog(tmp_path).read("ann") == []


def test_from_other_machines_the_page_itself_wants_the_door_token(tmp_path: Path) -> None:
    client = client_of(tmp_path, Access(REVIEWERS.door), "10.0.0.7:8090")
    assert client.get("/").status_code == 401
    assert client.get("/api/sheet", headers={"Authorization": "Bearer token-of-ann"}).status_code == 401
    assert client.get("/?token=door").status_code == 303
    assert client.get("/").status_code == 200
    assert Reviewing(client, "token-of-ann").order()


def test_another_site_can_neither_write_nor_ask_under_its_own_name(tmp_path: Path, client: TestClient) -> None:
    item = ids()["r1"]
    headers = {"Authorization": "Bearer token-of-ann", "Origin": "http://evil.example"}
    said = {"natural": True, "coherent": True, "comment": ""}
    assert client.put(f"/api/texts/{item}", headers=headers, json=said).status_code == 403
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert JudgementLog(tmp_path).read("ann") == []


@pytest.mark.parametrize(
    "body",
    [
        {"natural": "maybe", "coherent": True, "comment": ""},
        {"natural": True, "coherent": True},
        {"natural": True, "coherent": True, "comment": "x" * 2001},
        {"natural": True, "coherent": True, "comment": "", "source": "human"},
        [],
    ],
)
def test_what_is_no_judgement_is_not_written(tmp_path: Path, client: TestClient, body: object) -> None:
    ann = Reviewing(client, "token-of-ann")
    answer = client.put(f"/api/texts/{ids()['r1']}", headers=ann.headers, json=body)
    assert answer.status_code == 422
    assert ann.say("f" * 10, True, True) == 404
    large = client.put(f"/api/texts/{ids()['r1']}", headers=ann.headers, content=b"[" * 100_000)
    assert large.status_code == 413
    assert JudgementLog(tmp_path).read("ann") == []


def test_a_file_in_the_way_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "judgements").write_text("in the way", encoding="utf-8")
    ann = Reviewing(client_of(tmp_path / "judgements"), "token-of-ann")
    assert ann.say(ids()["r1"], True, True) == 507


def test_the_page_asks_the_two_questions_of_the_paper_and_no_other(client: TestClient) -> None:
    page = client.get("/").text
    assert page.count('role="group"') == 2
    assert "Natural?" in page
    assert "Coherent?" in page
    assert json.dumps(SHEET.digest) not in page
