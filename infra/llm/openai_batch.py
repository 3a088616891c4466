"""OpenAI's Batch API: half the price, an answer within a day; for stages of single calls, such as labels.

``BatchBackend`` is a backend like any other: whoever awaits ``complete`` waits for the batch that its request went out
with, so that a stage runs on it unchanged, with as many rows in flight as a batch should hold. A chain of many calls a
record would wait a day for each: not for those.

Nothing is paid twice. A request's name (``custom_id``) is the hash of its body, every batch is in the ledger before it
is waited for, and a batch whose id was not written down before a crash is found again by its label on the server. So a
process that is killed, or cancelled, comes back, asks the same, and gets the answers of the batch it had sent.
"""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import orjson

from infra.llm.batch_files import CHAT, BatchFiles, RemoteBatch
from infra.llm.batch_ledger import BatchLedger
from infra.llm.connect import Batching, Endpoint, api_key, limit_of
from infra.llm.failures import raise_for_status
from infra.llm.meter import METER
from infra.llm.openai_api import Channel
from infra.llm.retry import CallCounters, TransientFailure
from infra.llm.types import BackendUnavailable, ModelError, Reply, Request, RequestRejected
from infra.llm.wire import chat_body, encode, read_reply
from infra.shards.location import Location

MOST_REQUESTS = 50_000  # of one batch, and
MOST_BYTES = 190_000_000  # of its file: the provider's limits are 50,000 and 200 MB
QUEUE_FULL_POLLS = 10  # to wait for other batches, where the account has no room for one more
MOST_TRIES = 3  # batches that one request goes out with, where it expires or fails for now


@dataclass(slots=True)
class _Open:
    """A request that somebody waits for."""

    body: bytes
    wants_json: bool
    answer: asyncio.Future[Reply]
    tries: int = 0


class BatchBackend:
    """A chat model behind the Batch API.

    Args:
        endpoint: the model; prices are those of the table, of which the provider bills half.
        ledger: a file of this stage's own; keep it until the stage is done.
        batching: when a batch goes out, and how often it is asked for.

    Raises:
        BackendGone: the key is missing.
    """

    def __init__(self, endpoint: Endpoint, ledger: Location, batching: Batching) -> None:
        self._endpoint = endpoint
        self._files = BatchFiles(Channel(endpoint, api_key(endpoint), limit_of(endpoint, None)))
        self._ledger = BatchLedger(ledger)
        self._batching = batching
        self._open: dict[str, _Open] = {}
        self._unsent: dict[str, _Open] = {}
        self._sent: Counter[str] = Counter()  # batches that are not over, by request: after a crash it can be several
        self._found: dict[str, Mapping[str, Any]] = {}  # results of an earlier life that nobody has asked for yet
        self._asked = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken: BaseException | None = None  # what ended one of them: nobody will be answered any more

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._endpoint.model

    async def complete(self, request: Request) -> Reply:
        """Wait for the answer to ``request``: minutes to a day.

        Raises:
            RequestRejected: the request can never work.
            BackendUnavailable: it did not come back with ``MOST_TRIES`` batches, or the configuration is wrong.
        """
        if self._broken is not None:
            raise self._broken
        body = encode(chat_body(request, self._endpoint), self.model)
        name = hashlib.sha256(body).hexdigest()[:32]
        asked = self._open.get(name)
        if asked is None:
            asked = _Open(body, request.schema is not None, asyncio.get_running_loop().create_future())
            self._open[name] = asked
            asked.answer.add_done_callback(lambda done: self._close(name, done))
            if name in self._found:
                self._answer(name, asked, self._found.pop(name))
            elif not self._sent[name]:
                self._unsent[name] = asked
                self._asked.set()
        return await asyncio.shield(asked.answer)

    @property
    def counters(self) -> CallCounters:
        """Failed tries of requests in batches, and of asking for them."""
        return self._files.counters

    async def __aenter__(self) -> Self:
        await self._files.open()
        await self._find_lost()
        for batch_id in self._ledger.ids():
            self._sent.update(self._ledger.names(batch_id))
            self._start(self._follow(batch_id, is_old=True))
        self._start(self._send_for_ever())
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._files.close()

    def _start(self, work: Any) -> None:  # noqa: ANN401 - a coroutine
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = error  # without this task nobody would ever answer them
            for asked in self._open.values():
                if not asked.answer.done():
                    asked.answer.set_exception(error)

    def _close(self, name: str, done: asyncio.Future[Reply]) -> None:
        del self._open[name]
        if not done.cancelled():
            done.exception()  # seen, also where whoever asked is gone

    async def _find_lost(self) -> None:
        """Take up batches that were made in the moment before a crash, so that their ids were not written down."""
        for label in self._ledger.unnumbered():
            batch = await self._files.find(label)
            if batch is None:
                self._ledger.forget(label)
            else:
                self._ledger.number(label, batch.id)

    async def _send_for_ever(self) -> None:
        while True:
            await self._asked.wait()
            while self._asked.is_set() and len(self._unsent) < MOST_REQUESTS:
                self._asked.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._batching.linger_s):
                        await self._asked.wait()
            if self._unsent:
                await self._send()

    async def _send(self) -> None:
        lines: list[bytes] = []
        names: list[str] = []
        size = 0
        for name, asked in list(self._unsent.items()):
            fields = {"custom_id": name, "method": "POST", "url": CHAT, "body": orjson.Fragment(asked.body)}
            line = orjson.dumps(fields)
            if names and (len(names) >= MOST_REQUESTS or size + len(line) > MOST_BYTES):
                self._asked.set()  # the rest goes with the next
                break
            lines.append(line)
            names.append(name)
            size += len(line) + 1
        for name in names:
            self._unsent.pop(name).tries += 1
        self._sent.update(names)
        label = self._ledger.begin(names)
        batch = await self._files.submit(b"\n".join(lines), label)
        self._ledger.number(label, batch.id)
        self._start(self._follow(batch.id))

    async def _follow(self, batch_id: str, *, is_old: bool = False) -> None:
        """Wait for a batch, and answer by it; ``is_old`` says that it is of an earlier life."""
        batch = await self._ended_batch(batch_id)
        if batch is None:  # cleared away while nobody looked: all of it goes out again
            self._settle(batch_id, {}, None)
            return
        if batch.status == "failed" and is_old:  # that was told then, and may have been set right
            self._settle(batch_id, {}, None, is_try=False)
            return
        if batch.status == "failed" and batch.is_queue_full:  # by other batches: they have to end first
            await asyncio.sleep(QUEUE_FULL_POLLS * self._batching.poll_s)
            self._settle(batch_id, {}, None, is_try=False)
            return
        if batch.status == "failed":  # the file itself was refused: nothing of it was run
            reason = RequestRejected if batch.is_files_fault else BackendUnavailable
            self._settle(batch_id, {}, reason(f"{self.model}: batch {batch_id} failed: {batch.errors}"))
            return
        results = await self._files.results(batch)
        self._settle(batch_id, results, None)

    async def _ended_batch(self, batch_id: str) -> RemoteBatch | None:
        while True:
            batch = await self._files.look(batch_id)
            if batch is None or batch.is_over:
                return batch
            await asyncio.sleep(self._batching.poll_s)

    def _settle(
        self,
        batch_id: str,
        results: Mapping[str, Mapping[str, Any]],
        refusal: ModelError | None,
        *,
        is_try: bool = True,
    ) -> None:
        """Answer whoever waits for something of this batch; what it did not answer goes out with another.

        What is under way with another batch already, which a process has sent that was killed since, waits for that.
        """
        for name in self._ledger.names(batch_id):
            self._sent[name] -= 1
            asked, result = self._open.get(name), results.get(name)
            if asked is None or asked.answer.done():
                if result is not None and not _is_answer(self._found.get(name)):
                    self._found[name] = result
            elif refusal is None:
                asked.tries = max(0, asked.tries - (not is_try))
                self._answer(name, asked, result)
            elif not self._sent[name]:
                asked.answer.set_exception(refusal)

    def _answer(self, name: str, asked: _Open, result: Mapping[str, Any] | None) -> None:
        try:
            asked.answer.set_result(self._read(result, asked))
        except TransientFailure as failure:
            if result is not None:  # else it was never run
                self._files.counters.failures[failure.kind] += 1
                METER.get().fail(self.model, failure.usage)
            if self._sent[name]:
                return
            if asked.tries >= MOST_TRIES:
                message = f"{self.model}: not answered in {asked.tries} batches, at last: {failure}"
                asked.answer.set_exception(BackendUnavailable(message))
            else:
                self._unsent[name] = asked
                self._asked.set()
        except ModelError as error:
            asked.answer.set_exception(error)

    def _read(self, result: Mapping[str, Any] | None, asked: _Open) -> Reply:
        if result is None:
            raise TransientFailure("expired", "the batch ended before this request was run")
        response = result.get("response")
        if not isinstance(response, dict):
            raise TransientFailure("batch_error", f"no response: {result.get('error')}")
        body = orjson.dumps(response.get("body"))
        if response.get("status_code") != 200:
            raise_for_status(int(response.get("status_code") or 500), {}, body, self._endpoint, time.time())
        return read_reply(body, self._endpoint, wants_json=asked.wants_json, latency_s=0.0)


def _is_answer(result: Mapping[str, Any] | None) -> bool:
    return result is not None and (result.get("response") or {}).get("status_code") == 200


async def batches_of(endpoint: Endpoint, ledger: Location, *, cancel: bool) -> list[RemoteBatch]:
    """Return what has become of the batches of a ledger; those that the server has cleared away are left out.

    Args:
        endpoint: their model.
        ledger: a file of ``BatchBackend``.
        cancel: stop those that are not over. It takes minutes; what they have answered is kept, paid for, and used by
            whoever comes back.

    Raises:
        BackendGone: the key is missing, or refused.
        BackendUnavailable: the server does not answer.
    """
    files = BatchFiles(Channel(endpoint, api_key(endpoint), limit_of(endpoint, None)))
    written = BatchLedger(ledger)
    await files.open()
    try:
        looked = [await files.look(batch_id) for batch_id in written.ids()]
        looked += [await files.find(label) for label in written.unnumbered()]  # made in the moment before a crash
        found = [batch for batch in looked if batch is not None]
        return [await files.cancel(batch.id) if cancel and not batch.is_over else batch for batch in found]
    finally:
        await files.close()
