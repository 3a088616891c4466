"""The served scorer against the one in this process: a loopback server computes real logprobs from the same model."""

import asyncio
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from aiohttp import web

from infra.llm.connect import Endpoint
from infra.llm.prompt_logprobs import PromptLogprobs
from tasks.surprise.scoring.causal import CausalScorer, ScoringConfig
from tasks.surprise.scoring.remote import RemoteScorer
from tasks.surprise.scoring.scorer import PLAIN, Pass, Text
from tests.tasks.surprise.scoring.tiny import TEXTS, naive_nll, qwen3, tokenizer

CONTEXT, STRIDE = 64, 24
PASSES = (PLAIN, Pass("prompted", "What follows is private:\n"))


class Server:
    """Speaks vLLM's part of the protocol, in a thread with a loop of its own."""

    def __init__(self) -> None:
        self.model = qwen3()
        self.longest = 0
        self.open = 0
        self.most_open = 0
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        self._ready.wait(10)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        runner = web.AppRunner(self._app(), shutdown_timeout=0.1)
        self._loop.run_until_complete(self._start(runner))
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/v1/completions", self._answer)
        return app

    async def _start(self, runner: web.AppRunner) -> None:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"

    async def _answer(self, request: web.Request) -> web.Response:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        ids = (await request.json())["prompt"]
        self.longest = max(self.longest, len(ids))
        await asyncio.sleep(0.01)
        entries = [None, *self._entries(ids)]
        self.open -= 1
        return web.json_response({"choices": [{"text": "", "prompt_logprobs": entries}]})

    def _entries(self, ids: Sequence[int]) -> list[dict[str, dict[str, float]]]:
        nll = naive_nll(self.model, ids, 1).tolist()
        return [{str(id_): {"logprob": -value}} for id_, value in zip(ids[1:], nll, strict=True)]


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.close()


@pytest.mark.parametrize("bos", [False, True])
def test_a_served_model_scores_as_the_same_model_here(server: Server, bos: bool) -> None:
    texts = [Text(text) for text in (*TEXTS, "a long one " * 40)]
    here = CausalScorer(qwen3(), tokenizer(bos=bos), "tiny", ScoringConfig(context=CONTEXT, stride=STRIDE))
    logprobs = PromptLogprobs(Endpoint(model="tiny", base_url=server.url, max_in_flight=3), "none")
    with RemoteScorer(logprobs, tokenizer(bos=bos), "tiny", context=CONTEXT, stride=STRIDE) as scorer:
        assert (scorer.reference, scorer.prefix) == (here.reference, here.prefix)
        served = list(scorer.score(texts, PASSES))
    for found, right in zip(served, here.score(texts, PASSES), strict=True):
        np.testing.assert_array_equal(found.ids, right.ids)
        for each in PASSES:
            np.testing.assert_allclose(found.nll[each.name], right.nll[each.name], atol=1e-4, rtol=0)
    assert server.longest <= CONTEXT
    assert 1 < server.most_open <= 3
