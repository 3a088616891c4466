"""The Responses API with its web search tool: a model that looks things up before it answers."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import orjson

from infra.llm.connect import Endpoint, api_key, limit_of
from infra.llm.failures import raise_for_error_object
from infra.llm.lengths import CHARACTERS_A_TOKEN
from infra.llm.openai_api import Channel
from infra.llm.retry import Expected, Size, TransientFailure
from infra.llm.types import JsonSchema, Message, Searched, SearchUnusable, Usage
from infra.llm.wire import encode

SEARCH_TOOL = {"type": "web_search"}
PAGES_TOKENS = 8_000  # of what a search brings into the prompt, about


class WebSearchModel:
    """A model behind the Responses API that may search the web.

    Raises:
        BackendUnavailable: the key is missing.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._channel = Channel(endpoint, api_key(endpoint), limit_of(endpoint, None))
        self._url = self._channel.url("responses")

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._endpoint.model

    async def search(self, messages: Sequence[Message], schema: JsonSchema) -> Searched:
        """Answer after searching, as JSON of ``schema``.

        Raises:
            RequestRejected: the request can never work.
            SearchUnusable: refused, or cut off before the answer.
            BackendUnavailable: no answer after the retries, or the configuration is wrong.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "input": [{"role": message.role, "content": message.content} for message in messages],
            "tools": [SEARCH_TOOL],
            "text": {"format": {"type": "json_schema", "name": "reply", "schema": schema, "strict": True}},
            "store": False,  # an invented person is nobody's business either
        }
        encoded = encode(body | self._endpoint.extra_body, self.model)
        tokens = sum(len(message.content) for message in messages) // CHARACTERS_A_TOKEN + PAGES_TOKENS

        async def ask() -> Searched:
            return read_web_reply(await self._channel.post(self._url, encoded), self._endpoint)

        size: Size[Searched] = Size(
            lambda: Expected(tokens, tokens), lambda reply: reply.usage.prompt + reply.usage.completion
        )
        return await self._channel.retrier.call(ask, size)

    async def __aenter__(self) -> Self:
        await self._channel.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._channel.close()


def read_web_reply(body: bytes, endpoint: Endpoint) -> Searched:
    """Read a response object out of the body of an HTTP 200.

    Raises:
        TransientFailure: nothing usable is in it.
        SearchUnusable: refused, or cut off before the answer.
        RequestRejected, BackendGone: it holds an error object that says so.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise TransientFailure("not_json", f"HTTP 200 with {len(body)} bytes that are not JSON") from None
    if not isinstance(answer, dict):
        raise TransientFailure("not_json", f"HTTP 200 with a JSON {type(answer).__name__} instead of an object")
    if answer.get("error"):
        raise_for_error_object(answer["error"], endpoint)
    usage = _usage(answer)
    items = [item for item in answer.get("output") or () if isinstance(item, dict)]
    parts = [
        part
        for item in items
        if item.get("type") == "message"
        for part in item.get("content") or ()
        if isinstance(part, dict)
    ]
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text")
    notes = [note for part in parts for note in part.get("annotations") or () if isinstance(note, dict)]
    sources = dict.fromkeys(str(note["url"]) for note in notes if note.get("type") == "url_citation" and "url" in note)
    searches = sum(item.get("type") == "web_search_call" for item in items)
    searched = Searched(text, usage, searches, tuple(sources))
    if any(part.get("type") == "refusal" for part in parts):
        raise SearchUnusable("the model refused", searched)
    if answer.get("status") == "incomplete":
        reason = (answer.get("incomplete_details") or {}).get("reason")
        raise SearchUnusable(f"cut off before the answer: {reason}", searched)
    if answer.get("status") != "completed" or not text:
        raise TransientFailure("unfinished", f"a response with status {answer.get('status')!r}", usage=usage)
    return searched


def _usage(answer: Mapping[str, Any]) -> Usage:
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        raise TransientFailure("no_usage", "a response without token usage: its cost would be unknown")
    read, written = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
    return Usage(
        prompt=int(usage.get("input_tokens") or 0),
        cached=int(read.get("cached_tokens") or 0),
        completion=int(usage.get("output_tokens") or 0),
        reasoning=int(written.get("reasoning_tokens") or 0),
    )
