"""Makes a shard in one process after another, each of which dies at a later call of the operating system.

Run as ``python -m tests.infra.shards.dying_commits FOLDER first|again``: process n works in ``FOLDER/n`` and dies right
before its n-th call that changes a file, a write half done. Prints how many died before one lived.
"""

import asyncio
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tests.infra.shards.samples import commit, make_store, tables_of

SHARD = ShardRange(0, 10)
KEYS = ("draft", "refine", "attributes")
DEAD = 77


def make_shard(store: StageStore, spec: str, text: str) -> int:
    """Ask for each answer once and commit; return how many had to be paid for."""

    async def ask() -> int:
        with store.journal(lease) as journal:
            for key in KEYS:
                assert await journal.once(f"{spec} {key}", produce) == b"answer" * 50
            return journal.appended

    async def produce() -> bytes:
        return b"answer" * 50

    with store.acquire(SHARD) as lease:
        paid = asyncio.run(ask())
        commit(store, SHARD, spec=spec, tables=tables_of(SHARD, text), lease=lease)
    return paid


def die_at(call: int) -> None:
    """Let this process die at its ``call``-th change of a file."""
    calls = itertools.count()

    def mortal(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def changed(*args: Any, **kwargs: Any) -> Any:
            if next(calls) == call:
                if name == "write":
                    real(args[0], args[1][: len(args[1]) // 2])
                os._exit(DEAD)
            return real(*args, **kwargs)

        return changed

    for name in ("write", "replace", "link", "unlink", "mkdir"):
        setattr(os, name, mortal(name))


def main(folder: Path, again: bool) -> None:
    os.fsync = lambda fd: None  # it changes nothing that a dying process leaves, and the disk is slow
    tables_of(SHARD)  # the first table of a process takes a second: here once, for all children
    for call in itertools.count():
        child = os.fork()
        if child == 0:
            store = make_store(folder / str(call))
            if again:
                make_shard(store, "spec-1", "hello")
            die_at(call)
            make_shard(store, "spec-2", "good day")
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            print(call)  # noqa: T201 - read by the test
            return
        if code != DEAD:
            sys.exit(f"process {call} ended with {code}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "again")
