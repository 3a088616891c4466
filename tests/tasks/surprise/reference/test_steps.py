import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest

from infra.engines.models import ModelMissing
from infra.llm.types import BackendUnavailable
from tasks.surprise.reference.steps import ModelUnfit, ReferenceModel, identify, opened
from tasks.surprise.scoring.scorer import PLAIN, Text
from tests.tasks.surprise.scoring.tiny import chat_tokenizer


class Vllm(ThreadingHTTPServer):
    """Answers as vLLM does; a token has as many nats as its id modulo 7.

    Attributes:
        said: what it says of its model.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.said: dict[str, Any] = {"id": "tiny", "object": "model", "created": 0, "owned_by": "us"}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Answer(BaseHTTPRequestHandler):
    server: Vllm

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [self.server.said]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        entries = [None, *({str(each): {"logprob": -(each % 7)}} for each in asked["prompt"][1:])]
        self._answer({"choices": [{"text": "", "prompt_logprobs": entries}]})

    def _answer(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    chat_tokenizer("{{ messages }}").save_pretrained(tmp_path / "tokenizer")
    (tmp_path / "tokenizer" / "config.json").write_text('{"model_type": "qwen3"}')
    return tmp_path / "tokenizer"


@pytest.fixture
def server() -> Iterator[Vllm]:
    with Vllm() as running:
        yield running


async def test_a_served_model_scores_with_the_tokenizer_that_is_named(server: Vllm, tokenizer: Path) -> None:
    model = ReferenceModel(name=server.url, tokenizer=str(tokenizer))
    async with opened(model) as reference:
        assert reference.scorer.reference == identify(model, chats=True)
        assert reference.scorer.reference.model == "tiny@vllm"
        texts = [Text("Please call Jane.")]
        (scored,) = await asyncio.to_thread(lambda: list(reference.scorer.score(texts, [PLAIN])))
    assert scored.nll["plain"].tolist() == [each % 7 for each in scored.ids.tolist()]  # BOS stands before the first


async def test_a_context_beyond_the_servers_is_refused(server: Vllm, tokenizer: Path) -> None:
    server.said |= {"max_model_len": 33, "root": str(tokenizer)}
    async with opened(ReferenceModel(name=server.url)) as reference:
        assert (reference.scorer.context, reference.scorer.stride) == (32, 16)  # the server insists on writing a token
        assert reference.scorer.reference.model == f"{tokenizer}@vllm"
    with pytest.raises(ModelUnfit, match="a context of 33 tokens, the server takes 32"):
        async with opened(ReferenceModel(name=server.url, context=33)):
            pass


async def test_a_server_whose_tokenizer_nobody_has_is_told_how_to_name_one(server: Vllm) -> None:
    with pytest.raises(ModelMissing, match="--tokenizer"):
        identify(ReferenceModel(name=server.url), chats=False)


def test_a_server_that_does_not_answer_is_named() -> None:
    with pytest.raises(BackendUnavailable, match=r"127\.0\.0\.1:9/v1: no list of models"):
        identify(ReferenceModel(name="http://127.0.0.1:9/v1"), chats=False)


def test_workers_share_the_cores_and_none_is_left_without() -> None:
    model = ReferenceModel(name="tiny")
    assert (model.shared_by(10_000).threads, model.threads) == (1, None)
    assert model.shared_by(3).reads() == model.reads()
