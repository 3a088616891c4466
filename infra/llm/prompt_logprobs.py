"""Log probabilities of given tokens by a vLLM server, over ``/v1/completions``."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import aiohttp
import numpy as np
import numpy.typing as npt
import orjson

from infra.llm.connect import Endpoint
from infra.llm.failures import raise_for_error_object, raise_for_status
from infra.llm.limits import AdaptiveLimit
from infra.llm.retry import Retrier, RetryPolicy, TimedOut, TransientFailure
from infra.llm.types import BackendUnavailable
from infra.llm.wire import encode

F32 = npt.NDArray[np.float32]

_KEEP_ALIVE_S = 4.0  # below the 5 s after which servers close idle connections


class PromptLogprobs:
    """Asks a vLLM server how likely it finds token ids; requests are bounded, paced and repeated as for chats.

    Give scoring replicas of their own: prompt logprobs are outside vLLM's memory profile and read no prefix cache, so
    start them with ``--max-num-batched-tokens 2048`` or less. Their logits are in the server's precision.

    Args:
        endpoint: of the server; ``base_url`` is needed.
        key: for the server.

    Raises:
        BackendUnavailable: the endpoint has no ``base_url``.
    """

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        if endpoint.base_url is None:
            raise BackendUnavailable(f"{endpoint.model}: set base_url: prompt logprobs come from a vLLM server")
        self._endpoint = endpoint
        self._url = f"{endpoint.base_url.rstrip('/')}/completions"
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        policy = RetryPolicy(max_attempts=endpoint.max_attempts, max_wait_s=endpoint.max_wait_s)
        self._retrier = Retrier(endpoint.model, policy, AdaptiveLimit(endpoint.max_in_flight))

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._endpoint.model

    @property
    def in_flight(self) -> int:
        """Requests worth starting at once."""
        return self._endpoint.max_in_flight

    async def nll(self, ids: Sequence[int]) -> F32:
        """NLL of each token after those before it, in nats, shape (len(ids),); NaN for the first.

        Raises:
            RequestRejected: the server will never score these ids (too many, not of its vocabulary).
            BackendUnavailable: no answer after the retries, or it is no server that gives prompt logprobs.
        """
        body = encode(
            {
                "model": self._endpoint.model,
                "prompt": list(ids),
                "max_tokens": 1,  # vLLM asks for one at least; what it writes is dropped
                "temperature": 0,
                "prompt_logprobs": 1,
                "add_special_tokens": False,
            }
            | self._endpoint.extra_body,
            self.model,
        )

        async def ask() -> F32:
            return read_nll(await self._post(body), ids, self._endpoint)

        return await self._retrier.call(ask)

    async def _post(self, body: bytes) -> bytes:
        timeout_s = self._endpoint.request_timeout_s
        try:
            async with asyncio.timeout(timeout_s), self._session.post(self._url, data=body) as response:
                answer = await response.read()
        except TimeoutError as error:
            raise TimedOut("timeout", f"no answer within {timeout_s:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise TransientFailure("connection", f"{type(error).__name__}: {error}") from error
        if response.status != 200:
            raise_for_status(response.status, response.headers, answer, self._endpoint, time.time())
        return answer

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=self.in_flight, keepalive_timeout=_KEEP_ALIVE_S)
        timeout = aiohttp.ClientTimeout(total=None)  # one deadline for the whole request instead, in _post()
        self._session = aiohttp.ClientSession(connector=connector, headers=self._headers, timeout=timeout)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._session.close()


def read_nll(body: bytes, ids: Sequence[int], endpoint: Endpoint) -> F32:
    """Read the NLLs out of the body of an HTTP 200.

    vLLM gives one entry a prompt token: null for the first, then a map from token id (as text) to its ``logprob``,
    which holds the token itself and the likeliest one.

    Returns:
        Nats, shape (len(ids),); NaN for the first.

    Raises:
        BackendUnavailable: the server gives no prompt logprobs.
        TransientFailure: what it gives is not one entry for each token, or it holds an error object.
        RequestRejected: it holds an error object that says so.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise TransientFailure("not_json", f"HTTP 200 with {len(body)} bytes that are not JSON") from None
    fields = answer if isinstance(answer, dict) else {}
    if fields.get("error"):
        raise_for_error_object(fields["error"], endpoint)
    choices = fields.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    entries = choice.get("prompt_logprobs")
    if choice and entries is None:
        raise BackendUnavailable(
            f"{endpoint.model}: the server answers without prompt_logprobs: score with vLLM, or load the model here"
        )
    if not isinstance(entries, list) or len(entries) != len(ids):
        raise TransientFailure("malformed", f"not one prompt logprob for each of {len(ids)} tokens")
    logprobs = [_logprob(entry, id_) for entry, id_ in zip(entries[1:], ids[1:], strict=True)]
    return -np.array([np.nan, *logprobs], dtype=np.float32)


def _logprob(entry: Any, id_: int) -> float:  # noqa: ANN401 - whatever a server sends
    found = entry.get(str(id_)) if isinstance(entry, Mapping) else None
    value = found.get("logprob") if isinstance(found, Mapping) else None
    if not isinstance(value, int | float):
        raise TransientFailure("malformed", "a prompt token without its logprob")
    return float(value)
