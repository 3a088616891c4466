"""The bytes of a journal: a magic header, then frames of length, checksum and payload (key, body)."""

import hashlib
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from infra.shards.location import Location

MAGIC = b"PVJRNL1\n"
KEY_BYTES = 32

_HEAD = struct.Struct("<II")  # bytes of the payload, crc32 of the payload


class JournalCorrupt(Exception):
    """A journal is damaged in a way that no crash of its writer explains."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What stands in a journal.

    Attributes:
        events: key hash -> body, in the order of writing; the first answer to a key counts.
        end: bytes up to the end of the last whole frame; what follows is a torn tail.
    """

    events: dict[bytes, bytes]
    end: int


def key_hash(key: str) -> bytes:
    """Return the 32 bytes that stand for ``key`` (any text: lone surrogates are as good as others)."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def frame(key: bytes, body: bytes) -> bytes:
    """Return the frame of one event."""
    payload = key + body
    return _HEAD.pack(len(payload), zlib.crc32(payload)) + payload


def scan(data: bytes, path: Location) -> Scan:
    """Read the frames of ``data``, which was found at ``path``; a torn tail is left out.

    Raises:
        JournalCorrupt: this is no journal, or a bad frame stands before a good one.
    """
    if len(data) < len(MAGIC) and MAGIC.startswith(data):
        return Scan({}, 0)
    if not data.startswith(MAGIC):
        raise JournalCorrupt(f"{path}: starts with {data[:8]!r}, not with {MAGIC!r}: not a journal of this version")
    events: dict[bytes, bytes] = {}
    offset = len(MAGIC)
    while (stop := _whole_frame(data, offset)) is not None:
        key_stop = offset + _HEAD.size + KEY_BYTES
        events.setdefault(data[offset + _HEAD.size : key_stop], data[key_stop:stop])
        offset = stop
    good = next((at for at in range(offset + 1, len(data)) if _whole_frame(data, at) is not None), None)
    if good is not None:
        raise JournalCorrupt(
            f"{path}: the frame at byte {offset} is damaged, a good one follows at byte {good}: the disk or another"
            f" program did this. To keep the events before it: truncate -s {offset} FILE; to start anew: move it away"
        )
    return Scan(events, offset)


def salvage(data: bytes) -> bytes:
    """Return a journal of the whole frames of a damaged one, wherever they stand; empty where there are none.

    Each frame has a checksum of its own, so that what comes after the damage is as good as what came before it.
    """
    frames: list[bytes] = []
    offset = len(MAGIC) if data.startswith(MAGIC) else 0
    while offset < len(data):
        stop = _whole_frame(data, offset)
        if stop is not None:
            frames.append(data[offset:stop])
        offset = stop or offset + 1
    return MAGIC + b"".join(frames) if frames else b""


def _whole_frame(data: bytes, offset: int) -> int | None:
    """Return where the frame at ``offset`` stops, or None if no whole and undamaged frame is there."""
    start = offset + _HEAD.size
    if start > len(data):
        return None
    length, checksum = _HEAD.unpack_from(data, offset)
    stop = start + int(length)
    if length < KEY_BYTES or stop > len(data) or zlib.crc32(memoryview(data)[start:stop]) != checksum:
        return None
    return stop


def pack(events: Mapping[bytes, bytes]) -> bytes:
    """Return an archive: a journal of ``events``, compressed with zstd."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as compressed:
        compressed.write(MAGIC + b"".join(frame(key, body) for key, body in events.items()))
    return bytes(sink.getvalue())


def unpack(data: bytes, path: Location) -> dict[bytes, bytes]:
    """Return the events of an archive, which was found at ``path``.

    Raises:
        JournalCorrupt: it is damaged or not whole; archives are written whole or not at all.
    """
    try:
        plain = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
        found = scan(plain, path)
    except (OSError, JournalCorrupt) as error:
        raise JournalCorrupt(f"{path}: damaged: move it away; its shard pays again if it is redone") from error
    if found.end != len(plain):
        raise JournalCorrupt(f"{path}: not whole: move it away; its shard pays again if it is redone")
    return found.events
