"""Uploading, against a hub on loopback that keeps what it is sent."""

import base64
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from infra.hub import HubRefused, push, token

REPO = "me/chats"


class Hub(ThreadingHTTPServer):
    """What the hub's protocol needs for small files: a repository, a check before the upload, one commit.

    Attributes:
        old: files that are in the repository already.
        refuse: status of an answer to everything.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Door)
        self.made: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.deleted: list[str] = []
        self.tokens: set[str] = set()
        self.old: list[str] = []
        self.refuse = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Door(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._note()
        if "/tree/" in self.path:
            return self._answer(
                [{"type": "file", "path": name, "size": 1, "oid": "0" * 40} for name in self.server.old]
            )
        return self._answer(
            {"id": REPO, "sha": "0" * 40, "siblings": [{"rfilename": name} for name in self.server.old]}
        )

    def do_POST(self) -> None:
        self._note()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.refuse:
            return self._answer({"error": "no write access"}, self.server.refuse)
        if self.path == "/api/repos/create":
            self.server.made.append(json.loads(body))
            return self._answer({"url": f"{self.server.address}/datasets/{REPO}"})
        if "/preupload/" in self.path:
            files = json.loads(body)["files"]
            return self._answer(
                {"files": [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in files]}
            )
        if "/commit/" in self.path:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.server.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
                if line["key"] == "deletedFile":
                    self.server.deleted.append(line["value"]["path"])
            return self._answer(
                {"commitUrl": f"{self.server.address}/datasets/{REPO}/commit/1", "commitOid": "1" * 40, "success": True}
            )
        return self._answer({"errors": [], "warnings": []})

    def _note(self) -> None:
        if self.path != "/api/validate-yaml":  # the card's head is checked for anybody
            self.server.tokens.add(self.headers["Authorization"])

    def _answer(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.address)  # HF_ENDPOINT, as read at its import
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\nA card.\n")
    (tmp_path / "data" / "train-00000.parquet").write_bytes(b"PAR1 rows PAR1")
    return tmp_path


def test_a_folder_becomes_a_data_set_of_the_hub(hub: Hub, folder: Path) -> None:
    assert push(folder, REPO, message="2 chats", private=True) == f"{hub.address}/datasets/{REPO}"
    (made,) = hub.made
    assert (made["name"], made["organization"], made["type"]) == ("chats", "me", "dataset")
    assert made.get("private") is True or made.get("visibility") == "private"
    assert hub.files == {
        "README.md": b"---\nlicense: mit\n---\nA card.\n",
        "data/train-00000.parquet": b"PAR1 rows PAR1",
    }
    assert hub.tokens == {"Bearer hf_secret"}


def test_data_files_of_an_earlier_upload_go_in_the_same_commit(hub: Hub, folder: Path) -> None:
    hub.old = ["data/train-00000.parquet", "data/train-00001.parquet", "notes.md"]
    push(folder, REPO, message="2 chats", private=True)
    assert hub.deleted == ["data/train-00001.parquet"]


def test_a_hub_that_says_no_is_told_with_its_reason_and_without_the_token(hub: Hub, folder: Path) -> None:
    hub.refuse = 403
    with pytest.raises(HubRefused, match=f"^{REPO}: {hub.address} does not take it: .*403") as refused:
        push(folder, REPO, message="2 chats", private=False)
    assert "hf_secret" not in str(refused.value)
    assert hub.files == {}


def test_a_hub_that_does_not_answer_is_told(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as held:  # bound and not listening: nobody else gets the port, and nobody answers
        held.bind(("127.0.0.1", 0))
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{held.getsockname()[1]}")
        with pytest.raises(HubRefused, match=f"^{REPO}: http.* does not answer: .*refused"):
            push(folder, REPO, message="2 chats", private=True)


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_a_token_nothing_is_asked(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    if value is not None:
        monkeypatch.setenv("HF_TOKEN", value)
    with pytest.raises(HubRefused, match="set the environment variable HF_TOKEN"):
        token()
    with pytest.raises(HubRefused, match="HF_TOKEN"):
        push(folder, REPO, message="2 chats", private=False)
    assert hub.tokens == set()
