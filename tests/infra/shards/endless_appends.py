"""Appends event after event until it is killed, telling on stdout how many are in the journal."""

import os
import sys
from pathlib import Path

from infra.shards.journal import Journal


def body_of(n: int) -> bytes:
    return n.to_bytes(4, "little") * (n * 37 % 3000)


if __name__ == "__main__":
    with Journal(Path(sys.argv[1]), sync_events=16, sync_seconds=0.01) as journal:
        for n in range(sys.maxsize):
            journal.append(f"event {n}", body_of(n))
            os.write(1, f"{n + 1}\n".encode())
