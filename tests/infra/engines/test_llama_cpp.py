"""The real engine with the embedded model, about 15 s on one core."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from infra.engines import models
from infra.engines.llama_cpp import LlamaCppConfig, start
from infra.engines.process import EngineFailed, EngineProcess, launch
from infra.llm.connect import Endpoint, connect, price_of
from infra.llm.prices import FREE
from infra.llm.types import Message, Reply, Request, RequestRejected, Sampling
from infra.settings import settings

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]{1,11}$"},
        "age": {"type": "integer", "minimum": 18, "maximum": 99},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


def _ask(text: str, sampling: Sampling, schema: dict[str, object] | None = None) -> Request:
    return Request((Message("user", text),), sampling, schema)


async def _answers(endpoint: Endpoint, *requests: Request) -> list[Reply]:
    async with connect(endpoint) as backend:
        return await asyncio.gather(*[backend.complete(request) for request in requests])


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with start(LlamaCppConfig(slots=4, context_tokens=256, threads=1)) as endpoint:
        yield endpoint


@pytest.mark.embedded
async def test_it_chats_and_counts_tokens(endpoint: Endpoint) -> None:
    (reply,) = await _answers(endpoint, _ask("What is the capital of France? One word.", Sampling(max_tokens=12)))
    assert "Paris" in reply.text
    assert reply.finish_reason == "stop"
    assert reply.model == endpoint.model == "qwen2.5-coder-0.5b"
    assert 10 < reply.usage.prompt < 60
    assert 1 <= reply.usage.completion <= 12
    assert price_of(endpoint) == FREE


@pytest.mark.embedded
async def test_a_schema_binds_its_reply(endpoint: Endpoint) -> None:
    (reply,) = await _answers(endpoint, _ask("Invent a person.", Sampling(1.0, max_tokens=60), PERSON))
    person = json.loads(reply.text)
    assert person.keys() == {"name", "age"}
    assert person["name"].istitle()
    assert 18 <= person["age"] <= 99


@pytest.mark.embedded
async def test_a_seed_draws_the_same_text_again_without_the_prompt_cache(endpoint: Endpoint) -> None:
    uncached = endpoint.model_copy(update={"extra_body": {"cache_prompt": False}})
    texts = [
        (await _answers(uncached, _ask("Invent a surname.", Sampling(1.5, max_tokens=12, seed=seed))))[0].text
        for seed in (7, 7, 8, 9)
    ]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1


@pytest.mark.embedded
async def test_the_token_limit_shows_in_the_finish_reason(endpoint: Endpoint) -> None:
    (reply,) = await _answers(endpoint, _ask("Count from 1 to 100.", Sampling(max_tokens=6)))
    assert reply.finish_reason == "length"
    assert reply.usage.completion == 6


@pytest.mark.embedded
async def test_four_run_at_once_and_each_gets_its_own_answer(endpoint: Endpoint) -> None:
    capitals = {"France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Egypt": "Cairo"}
    requests = [_ask(f"What is the capital of {land}? One word.", Sampling(max_tokens=12)) for land in capitals]
    replies = await _answers(endpoint, *requests)
    for reply, capital in zip(replies, capitals.values(), strict=True):
        assert capital in reply.text


@pytest.mark.embedded
async def test_a_prompt_beyond_the_context_is_rejected(endpoint: Endpoint) -> None:
    with pytest.raises(RequestRejected, match="context size"):
        await _answers(endpoint, _ask("word " * 300, Sampling(max_tokens=5)))


@pytest.fixture(scope="module")
def model_path() -> str:
    return str(models.locate(models.DEFAULT_MODEL))


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PRIVASIS_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    yield tmp_path / "cache"
    settings.cache_clear()


def test_a_file_that_is_no_model_fails_with_the_engines_own_words(tmp_path: Path, empty_cache: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)
    with (
        pytest.raises(EngineFailed, match="ended before it was ready") as failure,
        start(LlamaCppConfig(model=str(broken))),
    ):
        pytest.fail("it never started")
    (log,) = (empty_cache / "logs").iterdir()
    assert str(log) in str(failure.value)
    assert "broken.gguf" in str(failure.value)


@pytest.mark.embedded
def test_an_engine_that_dies_is_named_when_a_call_finds_it_gone(
    model_path: str, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    @contextmanager
    def remember(*arguments: Any, **named: Any) -> Iterator[EngineProcess]:
        with launch(*arguments, **named) as engine:
            started.append(engine.pid)
            yield engine

    def lose_it() -> None:
        with start(LlamaCppConfig(model=model_path, slots=1, context_tokens=256, threads=1)) as endpoint:
            os.kill(started[0], signal.SIGKILL)
            impatient = endpoint.model_copy(update={"max_attempts": 1})
            asyncio.run(_answers(impatient, _ask("Hi", Sampling(max_tokens=5))))

    monkeypatch.setattr("infra.engines.llama_cpp.launch", remember)
    with pytest.raises(EngineFailed, match="SIGKILL"):
        lose_it()
