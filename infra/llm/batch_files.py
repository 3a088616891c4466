"""The Batch API on the wire: files up, batches made, looked at and cancelled, results down."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from infra.llm.failures import NothingThere
from infra.llm.openai_api import Channel
from infra.llm.retry import CallCounters, TransientFailure

Status = Literal["validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"]
OVER: frozenset[str] = frozenset({"failed", "completed", "expired", "cancelled"})
LABEL = "privasis"  # name of the metadata field that holds ours
CHAT = "/v1/chat/completions"  # what a batch calls
WINDOW = "24h"  # the only one there is
_PAGE = 100
_QUEUE_FULL = "token_limit_exceeded"  # of all batches under way together, by the account's terms
_LIMIT_CODES = frozenset({_QUEUE_FULL, "billing_hard_limit_reached", "insufficient_quota"})
_BOUNDARY = "privasis-batch-file"


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as the server sees it."""

    id: str
    status: Status
    output_file: str | None
    error_file: str | None
    errors: str
    is_files_fault: bool
    is_queue_full: bool
    answered: int
    total: int

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.status in OVER


class BatchFiles:
    """Speaks to one server, each call within its limit and tried again where that can help."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @property
    def counters(self) -> CallCounters:
        """Tries, answers and failures so far."""
        return self._channel.retrier.counters

    async def submit(self, lines: bytes, label: str) -> RemoteBatch:
        """Upload requests, a JSON object a line, and make a batch of them that can be found by ``label``."""
        content = (
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{label}.jsonl"\r\n'
            f"Content-Type: application/jsonl\r\n\r\n"
        ).encode()
        form = content + lines + f"\r\n--{_BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={_BOUNDARY}"
        uploaded = await self._object(lambda: self._channel.send("POST", "files", form, kind))
        made = orjson.dumps(
            {
                "input_file_id": uploaded["id"],
                "endpoint": CHAT,
                "completion_window": WINDOW,
                "metadata": {LABEL: label},
            }
        )

        async def make() -> bytes:
            # A try whose answer was lost may have made it: a second batch of the same requests would be paid for, too.
            if (found := await self._listed(label)) is not None:
                return orjson.dumps(found)
            return await self._channel.send("POST", "batches", made)

        return _batch(await self._object(make))

    async def look(self, batch_id: str) -> RemoteBatch | None:
        """Return what has become of a batch; None if the server does not know it any more."""

        async def get() -> bytes:
            try:
                return await self._channel.send("GET", f"batches/{batch_id}")
            except NothingThere:
                return orjson.dumps({"id": None})

        fields = await self._object(get)
        return None if fields["id"] is None else _batch(fields)

    async def cancel(self, batch_id: str) -> RemoteBatch:
        """Ask the server to stop a batch; it takes minutes, and keeps what was answered."""
        return _batch(await self._object(lambda: self._channel.send("POST", f"batches/{batch_id}/cancel", b"{}")))

    async def find(self, label: str) -> RemoteBatch | None:
        """Return the batch that was made under ``label``, None if there is none."""

        async def search() -> bytes:
            return orjson.dumps(await self._listed(label) or {})

        found = orjson.loads(await self._channel.retrier.call(search))
        return _batch(found) if found else None

    async def results(self, batch: RemoteBatch) -> dict[str, dict[str, Any]]:
        """Return what came back, by ``custom_id``, in whatever order; of an expired or cancelled batch only a part.

        Of files that the server has cleared away, nothing.
        """
        found: dict[str, dict[str, Any]] = {}
        for file in (batch.output_file, batch.error_file):
            if file is not None:
                content = await self._channel.retrier.call(lambda file=file: self._content(file))  # type: ignore[misc]
                for line in content.splitlines():
                    if line.strip():
                        result = orjson.loads(line)
                        found[str(result["custom_id"])] = result
        return found

    async def open(self) -> None:
        """Begin."""
        await self._channel.open()

    async def close(self) -> None:
        """Close all connections."""
        await self._channel.close()

    async def _content(self, file: str) -> bytes:
        try:
            return await self._channel.send("GET", f"files/{file}/content")
        except NothingThere:
            return b""

    async def _object(self, send: Callable[[], Awaitable[bytes]]) -> dict[str, Any]:
        async def read() -> dict[str, Any]:
            return _fields(await send(), "id")

        return await self._channel.retrier.call(read)

    async def _listed(self, label: str) -> dict[str, Any] | None:
        after = ""
        while True:
            page = _fields(await self._channel.send("GET", f"batches?limit={_PAGE}{after}"), "data")
            for batch in page["data"]:
                if (batch.get("metadata") or {}).get(LABEL) == label:
                    return cast(dict[str, Any], batch)
            if not page.get("has_more") or not page["data"]:
                return None
            after = f"&after={page['data'][-1]['id']}"


def _fields(body: bytes, wanted: str) -> dict[str, Any]:
    """Read an object that has the field ``wanted``.

    Raises:
        TransientFailure: it is none.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise TransientFailure("not_json", f"HTTP 200 with {len(body)} bytes that are not JSON") from None
    if not isinstance(answer, dict) or wanted not in answer:
        raise TransientFailure("malformed", f"HTTP 200 with something that has no {wanted}")
    return answer


def _batch(fields: dict[str, Any]) -> RemoteBatch:
    errors = ((fields.get("errors") or {}).get("data")) or []
    counts = fields.get("request_counts") or {}
    codes = {str(error.get("code")) for error in errors}
    return RemoteBatch(
        id=str(fields["id"]),
        status=fields["status"],
        output_file=fields.get("output_file_id"),
        error_file=fields.get("error_file_id"),
        errors="; ".join(f"{error.get('code')}: {error.get('message')}" for error in errors) or "no reason given",
        is_files_fault=bool(codes) and not codes & _LIMIT_CODES,
        is_queue_full=_QUEUE_FULL in codes,
        answered=int(counts.get("completed") or 0),
        total=int(counts.get("total") or 0),
    )
