"""Requests and seconds that an object store takes: a shard, a plan of many shards, a listing.

The server is local and slow (moto, in this process); a real one adds its own time to each round trip. What is told
of requests holds everywhere.
"""

import os
import tempfile
import time

from infra.shards import files, objects
from infra.shards.location import ObjectPath
from infra.shards.manifest import ShardSummary
from infra.shards.plan import plan
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tests.infra.shards import object_store
from tests.infra.shards.object_store import BUCKET, Store
from tests.infra.shards.samples import make_store, tables_of

SHARDS = 2800
ROWS = 512
EVENTS = 5000
LATENCY_S = 0.03  # of a request to a store in the same region


def main() -> None:
    """Serve a store, and measure against it."""
    with object_store.served() as server, tempfile.TemporaryDirectory() as scratch:
        os.environ |= {
            "AWS_ENDPOINT_URL_S3": server.url,
            "AWS_ACCESS_KEY_ID": "one",
            "AWS_SECRET_ACCESS_KEY": "two",
            "AWS_REGION": "us-east-1",
            "PRIVASIS_SCRATCH": scratch,
        }
        object_store.forget()
        store = make_store(ObjectPath(BUCKET, "bench"))
        _a_shard(server, store)
        _a_plan(server, store)


def _a_shard(server: Store, store: StageStore) -> None:
    shard = ShardRange(0, ROWS)
    tables = tables_of(shard)
    server.requests.clear()
    began = time.perf_counter()
    with store.acquire(shard) as lease:
        with store.journal(lease) as journal:
            for number in range(EVENTS):
                journal.append(str(number), os.urandom(2000))
        store.commit(shard, tables, lease, ROWS, spec_hash="1", input_hashes={}, summary=ShardSummary())
    took = time.perf_counter() - began
    kinds = ("PUT", "LIST", "GET", "HEAD", "POST", "DELETE")
    told = ", ".join(f"{server.count(kind)} {kind}" for kind in kinds if server.count(kind))
    print(f"a shard of {ROWS} rows and {EVENTS:,} answers: {len(server.requests)} requests ({told}), {took:.2f} s")


def _a_plan(server: Store, store: StageStore) -> None:
    first = ShardRange(0, ROWS)
    record = store.manifest.record(first)
    data = {table: objects.read(_key(store.layout.data_file(table, first))) or b"" for table in store.tables}
    for start in range(ROWS, SHARDS * ROWS, ROWS):
        shard = ShardRange(start, start + ROWS)
        for table, content in data.items():
            server.hold(_key(store.layout.data_file(table, shard)).key, content)
        entry = record.model_copy(update={"shard": shard}).model_dump_json(indent=1).encode()
        server.hold(_key(store.manifest.path(shard)).key, entry)
    server.requests.clear()
    began = time.perf_counter()
    planned = plan(store, ShardRange(0, SHARDS * ROWS), ROWS, "1")
    took = time.perf_counter() - began
    assert not planned.todo
    alone = len(server.requests) * LATENCY_S
    at_once = server.count("LIST") * LATENCY_S + server.count("GET") * LATENCY_S / files.AT_ONCE
    print(
        f"a plan of {SHARDS:,} committed shards: {len(server.requests):,} requests ({server.count('LIST')} LIST,"
        f" {server.count('GET'):,} GET), {took:.1f} s; at {LATENCY_S * 1000:.0f} ms a request it would wait"
        f" {at_once:.1f} s, one after the other {alone:.0f} s"
    )


def _key(path: object) -> ObjectPath:
    assert isinstance(path, ObjectPath)
    return path


if __name__ == "__main__":
    main()
