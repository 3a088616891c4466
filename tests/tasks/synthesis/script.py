"""A scripted model, an embedder and a pool for tests of the chain; nothing here needs a network or a process."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Self

import numpy as np
import numpy.typing as npt
import orjson

from infra.engines.simulator.chat import ChatBody, answer_chat
from infra.engines.simulator.faults import body_key
from infra.llm.connect import Endpoint
from infra.llm.fake import FakeBackend
from infra.llm.types import Message, Reply, Request, Usage
from infra.llm.wire import chat_body
from infra.ray.keeper import LocalKeeper
from tasks.ask import Asker
from tasks.diversity.pool import Reservoir
from tasks.diversity.shared import SharedPool
from tasks.events import EventLog, MemoryLog
from tasks.synthesis.chain import Chain, MixedModel
from tasks.synthesis.config import RefinementConfig, SynthesisConfig

F32 = npt.NDArray[np.float32]
Answer = Reply | Exception | str
Answers = Mapping[str, Sequence[Answer]]

PLAIN = SynthesisConfig(words=80, refinement=RefinementConfig(steps=2))
ENDPOINT = Endpoint(model="fake")
LETTER = """Dear Ana,

The clinic in Porto called on 3 May 2019 about the knee. Dr. Lima wants to see you again on Tuesday at nine, and she \
asked that you bring the pictures from the first visit. I have put 240 euros into the blue envelope for the taxi and \
the new brace. Marta will water the plants while you are away, so leave the key with Rui in the bakery. \
Call me when the train leaves.

Your brother,
Tomas"""


def scripted(answers: Answers) -> Callable[[Request], Answer]:
    """Answer the n-th attempt at a step with the n-th of its answers, and what is not listed as the simulator would."""

    def answer(request: Request) -> Answer:
        listed = answers.get(request.tags["step"], ())
        attempt = int(request.tags["attempt"])
        return listed[attempt] if attempt < len(listed) else simulated(request)

    return answer


def simulated(request: Request) -> str:
    """Write what the simulator answers: JSON of the asked schema, or a text that passes the filters."""
    body = orjson.dumps(chat_body(request, ENDPOINT))
    key = body_key(body)
    answer = answer_chat(ChatBody.model_validate_json(body), key, 0, None, Random(0))
    text: str = answer["choices"][0]["message"]["content"]
    return text


def cut_off(text: str) -> Reply:
    return Reply(text, "length", Usage(prompt=3, completion=len(text.split())), "fake")


def asked(backend: FakeBackend, step: str | None = None) -> list[str]:
    """Name each request in order of arrival: its step, and from the second attempt on, which one it is."""
    tags = [request.tags for request in backend.requests if step in (None, request.tags["step"])]
    return [tag["step"] if tag["attempt"] == "0" else f"{tag['step']} {tag['attempt']}" for tag in tags]


def asker(backend: FakeBackend, log: EventLog | None = None, attempts: int = 3) -> Asker:
    return Asker("r-1", 7, backend, log or MemoryLog(), attempts)


def last_message(request: Request) -> Message:
    return request.messages[-1]


class PatientBackend(FakeBackend):
    """Lets others run between a request and its answer."""

    async def complete(self, request: Request) -> Reply:
        for _ in range(int(request.sampling.seed) % 4):
            await asyncio.sleep(0)
        return await super().complete(request)


class HashEmbedder:
    """Maps each text to a unit vector that depends on it alone."""

    model = "hash"
    dimension = 16

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> F32:
        self.texts += texts
        return np.stack([unit_vector(text) for text in texts])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None


def unit_vector(text: str) -> F32:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    vector = np.random.default_rng(seed).normal(size=HashEmbedder.dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def pool_of(texts: Sequence[str]) -> SharedPool:
    """Return a pool that holds the vectors of ``texts``, as a run in one process has it."""
    reservoir = Reservoir(seed=1)
    if texts:
        reservoir.add(np.stack([unit_vector(text) for text in texts]))
    return SharedPool(LocalKeeper(reservoir))


def chain_of(
    backend: FakeBackend,
    *,
    log: EventLog | None = None,
    config: SynthesisConfig = PLAIN,
    pool: SharedPool | None = None,
    embedder: HashEmbedder | None = None,
) -> Chain:
    """Return the chain of run 7 with one model, on a pool of three texts unless told otherwise."""
    return Chain(
        run_seed=7,
        config=config,
        models=[MixedModel(backend, 1.0, lambda usage: usage.prompt / 1000)],
        embedder=embedder or HashEmbedder(),
        pool=pool or pool_of(["one", "two", "three"]),
        log=log or MemoryLog(),
    )
