"""Continues token ids by a server's ``/v1/completions``: raw prompts, without a chat template."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import orjson

from infra.llm.connect import Endpoint
from infra.llm.failures import raise_for_error_object
from infra.llm.limits import AdaptiveLimit
from infra.llm.openai_api import Channel
from infra.llm.retry import TransientFailure
from infra.llm.wire import encode


@dataclass(frozen=True, slots=True)
class Continued:
    """What a server wrote.

    Attributes:
        text: as text.
        ids: as token ids, the one that ended it included; None where the server does not tell them.
    """

    text: str
    ids: tuple[int, ...] | None


class Completions:
    """Asks a server to continue token ids; requests are bounded, paced and repeated as for chats.

    vLLM tells token ids (``return_token_ids``). Samplers that a server would add of its own accord are switched off:
    vLLM takes ``top_k`` and penalties from the model's folder, llama.cpp has a ``min_p``. A server that refuses fields
    beyond the protocol cannot be used.

    Args:
        endpoint: of the server.
        key: for the server.
    """

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self._endpoint = endpoint
        self._key = key

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._endpoint.model

    @property
    def in_flight(self) -> int:
        """Requests worth starting at once."""
        return self._endpoint.max_in_flight

    async def complete(
        self, ids: Sequence[int], *, max_tokens: int, temperature: float, top_p: float, seed: int
    ) -> Continued:
        """Continue ``ids`` by at most ``max_tokens``.

        Raises:
            RequestRejected: the server will never take this prompt.
            BackendUnavailable: no answer after the retries.
        """
        body = encode(
            {
                "model": self._endpoint.model,
                "prompt": list(ids),
                "max_tokens": max_tokens,
                "temperature": temperature,
                "top_p": top_p,
                "seed": seed,
                "top_k": -1,
                "min_p": 0.0,
                "repetition_penalty": 1.0,
                "return_token_ids": True,
                "skip_special_tokens": False,
            }
            | self._endpoint.extra_body,
            self.model,
        )

        async def ask() -> Continued:
            return read_continued(await self._channel.post(self._channel.url("completions"), body), self._endpoint)

        return await self._channel.retrier.call(ask)

    async def __aenter__(self) -> Self:
        # Here: each event loop has its own connections and waiting calls.
        self._channel = Channel(self._endpoint, self._key, AdaptiveLimit(self._endpoint.max_in_flight))
        await self._channel.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._channel.close()


def read_continued(body: bytes, endpoint: Endpoint) -> Continued:
    """Read what was written out of the body of an HTTP 200.

    Raises:
        TransientFailure: there is no text, or it holds an error object.
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
    if not isinstance(choice.get("text"), str):
        raise TransientFailure("malformed", "an answer without a text")
    return Continued(choice["text"], _ids(choice.get("token_ids")))


def _ids(told: Any) -> tuple[int, ...] | None:  # noqa: ANN401 - whatever a server sends
    if told is None:
        return None
    if not isinstance(told, list) or not all(type(each) is int for each in told):
        raise TransientFailure("malformed", "token_ids that are no list of numbers")
    return tuple(told)
