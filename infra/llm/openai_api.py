"""Chat and embeddings over the OpenAI protocol: the SDK's conventions and aiohttp transport, our limits and retries."""

import asyncio
import time
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Self

import httpx2
import numpy as np
import numpy.typing as npt
from aiohttp import ClientError
from openai import AsyncOpenAI, DefaultAioHttpClient

from infra.llm.connect import Endpoint, OpenAIEmbedding
from infra.llm.failures import raise_for_status
from infra.llm.lengths import CHARACTERS_A_TOKEN, Lengths
from infra.llm.limits import Limit
from infra.llm.meter import METER
from infra.llm.quotas import read_quotas
from infra.llm.retry import CallCounters, Expected, Retrier, RetryPolicy, Size, TimedOut, TransientFailure
from infra.llm.types import Reply, Request, Usage
from infra.llm.wire import chat_body, encode, read_reply, read_vectors

# Servers close idle connections after 5 s (uvicorn, llama.cpp); a request on a connection that closes is a failed try.
_KEEP_ALIVE_S = 4.0
# Headers about our machine, seven of them: no server needs them, and each is copied several times with every call.
_TELEMETRY = "X-Stainless-"


class Channel:
    """POSTs JSON to one endpoint, within its limit.

    The SDK supplies address, headers and transport. Its request building and response models would take more CPU than
    all the rest (1.3 ms a call against 0.3 ms without, one core, 256 in flight), so bytes go straight to its client.
    """

    def __init__(self, endpoint: Endpoint, key: str, limit: Limit) -> None:
        policy = RetryPolicy(max_attempts=endpoint.max_attempts, max_wait_s=endpoint.max_wait_s)
        self.retrier = Retrier(endpoint.model, policy, limit)
        self._limit = limit
        self._endpoint = endpoint
        most = endpoint.max_in_flight  # as many connections as requests: none waits for a connection
        self._http = DefaultAioHttpClient(
            limits=httpx2.Limits(max_connections=most, keepalive_expiry=_KEEP_ALIVE_S),
            timeout=None,  # one deadline for the whole request instead, in post()
            trust_env=not _is_loopback(endpoint.base_url),  # a proxy cannot reach an engine on loopback
        )
        sdk = AsyncOpenAI(base_url=endpoint.base_url, api_key=key, max_retries=0, http_client=self._http)
        headers = {
            name: value
            for name, value in sdk.default_headers.items()
            if isinstance(value, str) and not name.startswith(_TELEMETRY)
        }
        self._headers = httpx2.Headers(headers | sdk.auth_headers)
        self._base_url = sdk.base_url

    def url(self, path: str) -> httpx2.URL:
        """Return the address of one of the API's methods."""
        return self._base_url.join(path)

    async def post(self, url: httpx2.URL, body: bytes) -> bytes:
        """Send ``body``, return the body of the HTTP 200.

        Raises:
            TransientFailure: no answer, or one that another try may better.
            RequestRejected: the server will never take this request.
            BackendGone: the server will take none.
        """
        return await self._exchange(httpx2.Request("POST", url, headers=self._headers, content=body))

    async def send(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> bytes:
        """Call another of the API's methods; see ``post``."""
        headers = self._headers.copy()
        headers["Content-Type"] = kind
        return await self._exchange(httpx2.Request(method, self.url(path), headers=headers, content=body or None))

    async def _exchange(self, request: httpx2.Request) -> bytes:
        timeout_s = self._endpoint.request_timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._http.send(request)
        except TimeoutError as error:
            raise TimedOut("timeout", f"no answer within {timeout_s:g} s") from error
        except (httpx2.RequestError, ClientError, OSError) as error:
            raise TransientFailure("connection", f"{type(error).__name__}: {error}") from error
        self._limit.observe(read_quotas(response.headers))
        if response.status_code != 200:
            raise_for_status(response.status_code, response.headers, response.content, self._endpoint, time.time())
        return response.content

    async def open(self) -> None:
        """Begin to hold places of the limit."""
        await self._limit.open()

    async def close(self) -> None:
        """Give them back and close all connections."""
        await self._limit.close()
        await self._http.aclose()


def _is_loopback(base_url: str | None) -> bool:
    host = httpx2.URL(base_url or "").host
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return False


class OpenAIBackend:
    """A chat model behind the OpenAI protocol.

    ``counters`` tells how many tries its calls took.
    """

    def __init__(self, endpoint: Endpoint, key: str, limit: Limit) -> None:
        self._endpoint = endpoint
        self._lengths = Lengths()
        self._channel = Channel(endpoint, key, limit)
        self._url = self._channel.url("chat/completions")

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._endpoint.model

    @property
    def counters(self) -> CallCounters:
        """Tries, answers and failures so far."""
        return self._channel.retrier.counters

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``, after retries where they can help.

        Raises:
            RequestRejected: the request can never work.
            BackendUnavailable: no answer after the retries, or the configuration is wrong.
        """
        body = encode(chat_body(request, self._endpoint), self.model)

        async def ask() -> Reply:
            sent_at = time.monotonic()
            answer = await self._channel.post(self._url, body)
            latency_s = time.monotonic() - sent_at
            return read_reply(answer, self._endpoint, wants_json=request.schema is not None, latency_s=latency_s)

        return await self._channel.retrier.call(ask, self._lengths.size_of(request))

    async def __aenter__(self) -> Self:
        await self._channel.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._channel.close()


class OpenAIEmbedder:
    """An embedding model behind the OpenAI protocol.

    ``counters`` tells how many tries its calls took, ``usage`` how many tokens they cost.
    """

    def __init__(self, config: OpenAIEmbedding, key: str, limit: Limit) -> None:
        self.usage = Usage()
        self._config = config
        self._endpoint = config.endpoint
        self._channel = Channel(self._endpoint, key, limit)
        self._url = self._channel.url("embeddings")

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._endpoint.model

    @property
    def dimension(self) -> int:
        """Length of one vector."""
        return self._config.dimension

    @property
    def counters(self) -> CallCounters:
        """Tries, answers and failures so far."""
        return self._channel.retrier.counters

    async def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors of shape (len(texts), dimension), in the order of ``texts``.

        Raises:
            RequestRejected: the server will never take these texts.
            BackendUnavailable: no answer after the retries, or vectors that are not what the configuration says.
        """
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), self._config.batch):
            batch = texts[start : start + self._config.batch]
            vectors[start : start + len(batch)] = await self._embed_batch(batch)
        return vectors

    async def _embed_batch(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        fields = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        body = encode(fields | self._endpoint.extra_body, self.model)

        async def ask() -> npt.NDArray[np.float32]:
            answer = await self._channel.post(self._url, body)
            vectors, usage = read_vectors(answer, self._endpoint, count=len(texts), dimension=self.dimension)
            self.usage += usage
            METER.get().embed(self.model, usage)
            return vectors

        expected = sum(map(len, texts)) // CHARACTERS_A_TOKEN
        size: Size[npt.NDArray[np.float32]] = Size(lambda: Expected(expected, expected), lambda _: expected)
        return await self._channel.retrier.call(ask, size)

    async def __aenter__(self) -> Self:
        await self._channel.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._channel.close()
