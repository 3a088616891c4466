"""An OpenAI-protocol server that costs next to nothing: a fixed latency, faults on demand, and a count of its calls.

``python server.py --latency 0.2 --faults 0.05`` prints its port and serves until its standard input closes. No web
framework: the server must not be what is measured. A row's number stands in its prompt (``Row 17:``); the right answer
to it is ``answer_to(17)``. Which calls fail is a function of the row and of how often it was asked.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import threading
import time
from collections import Counter
from typing import Any

FAULTS = ("429", "500", "not JSON", "truncated", "empty")
WORDS = ("lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit", "sed", "do")
_ROW = re.compile(rb"Row (\d+):")
_LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: *(\d+)")


def answer_to(row: int) -> str:
    """Return the one right answer: about a hundred words that begin and end with the row's number."""
    return f"Row {row}: " + " ".join(WORDS * 10) + f" ({row})"


class Books:
    """What has come to the door."""

    def __init__(self) -> None:
        self.calls: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()
        self.open = self.peak = 0
        self.first_at = self.last_at = 0.0
        self.marks: dict[int, asyncio.Event] = {}

    def arrive(self, row: int) -> None:
        now = time.monotonic()
        self.first_at = self.first_at or now
        self.open += 1
        self.peak = max(self.peak, self.open)
        self.calls[row] += 1
        if mark := self.marks.get(self.calls.total()):
            mark.set()

    def leave(self) -> None:
        self.open -= 1
        self.last_at = time.monotonic()

    def told(self) -> dict[str, Any]:
        return {
            "calls": self.calls.total(),
            "rows": len(self.calls),
            "faults": dict(self.faults),
            "peak": self.peak,
            "seconds": self.last_at - self.first_at,
        }


class Connection(asyncio.Protocol):
    """One keep-alive connection; requests on it are answered one after the other."""

    def __init__(self, latency_s: float, fault_share: float, books: Books) -> None:
        self._latency_s, self._fault_share, self._books = latency_s, fault_share, books
        self._read = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        head, separator, rest = self._read.partition(b"\r\n\r\n")
        if not separator:
            return
        match = _LENGTH.search(head)
        length = int(match[1]) if match else 0
        if len(rest) < length:
            return
        self._read = rest[length:]
        self._serve(head.split(b" ", 2)[1].decode(), rest[:length])

    def _serve(self, path: str, body: bytes) -> None:
        if path.startswith("/stats"):
            self._send(200, json.dumps(self._books.told()).encode())
        elif path.startswith("/wait/"):
            self._when_arrived(int(path.rpartition("/")[2]))
        elif match := _ROW.search(body):
            row = int(match[1])
            self._books.arrive(row)
            asyncio.get_running_loop().call_later(self._latency_s, self._answer, row, self._books.calls[row])
        else:
            self._send(200, b'{"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "x"}]}')

    def _when_arrived(self, calls: int) -> None:
        mark = self._books.marks.setdefault(calls, asyncio.Event())
        if self._books.calls.total() >= calls:
            mark.set()
        waiting = asyncio.ensure_future(mark.wait())
        waiting.add_done_callback(lambda _: self._send(200, b"{}"))

    def _answer(self, row: int, time_asked: int) -> None:
        self._books.leave()
        draw = random.Random(f"{row} {time_asked}")
        fault = draw.choice(FAULTS) if draw.random() < self._fault_share else ""
        if fault:
            self._books.faults[fault] += 1
        text = answer_to(row)
        match fault:
            case "429":
                self._send(
                    429, b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}', b"Retry-After: 1\r\n"
                )
            case "500":
                self._send(500, b'{"error": {"message": "a server error", "code": "server_error"}}')
            case "not JSON":
                self._send(200, b"<html>upstream says no</html>")
            case "truncated":
                self._send(200, chat(text[:50], "length"))
            case "empty":
                self._send(200, chat("", "stop"))
            case _:
                self._send(200, chat(text, "stop"))

    def _send(self, status: int, body: bytes, header: bytes = b"") -> None:
        if not self._transport.is_closing():
            head = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (status, len(body))
            self._transport.write(head + header + b"\r\n" + body)


def chat(text: str, finish_reason: str) -> bytes:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
            "usage": {"prompt_tokens": 40, "completion_tokens": 150, "total_tokens": 190},
        }
    ).encode()


async def serve(latency_s: float, fault_share: float) -> None:
    """Serve on a free port of loopback until standard input closes."""
    loop, books, ended = asyncio.get_running_loop(), Books(), asyncio.Event()
    server = await loop.create_server(lambda: Connection(latency_s, fault_share, books), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)

    def until_closed() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=until_closed, daemon=True).start()
    await ended.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--faults", type=float, default=0.0, help="share of calls")
    asked = parser.parse_args()
    asyncio.run(serve(asked.latency, asked.faults))
