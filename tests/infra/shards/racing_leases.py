"""Two processes race for leases: ``python -m tests.infra.shards.racing_leases FOLDER``. Prints what each got, as JSON.

In round n both try for a shard at the same moment; in odd rounds a dead process holds it. Afterwards both take and
release one shard again and again; whoever has it alone may touch a file that must not be there.
"""

import json
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

from infra.shards.lease import LeaseHeld, acquire
from infra.shards.ranges import ShardRange

ROUNDS = 50
TURNS = 25
TURNS_SHARD = ShardRange(ROUNDS, ROUNDS + 1)


def hold_and_die(folder: Path) -> None:
    for n in range(1, ROUNDS, 2):
        acquire(folder, ShardRange(n, n + 1), ttl_s=3600)
    os._exit(0)


def race(folder: Path, barrier: Barrier, results: Connection) -> None:
    won = {}
    for n in range(ROUNDS):
        barrier.wait()
        try:
            won[n] = acquire(folder, ShardRange(n, n + 1), ttl_s=3600).token
        except LeaseHeld:
            continue
    barrier.wait()
    results.send((won, take_turns(folder)))


def take_turns(folder: Path) -> list[int]:
    tokens: list[int] = []
    alone = folder.parent / "alone"
    while len(tokens) < TURNS:
        try:
            with acquire(folder, TURNS_SHARD, ttl_s=3600) as lease:
                alone.touch(exist_ok=False)
                tokens.append(lease.token)
                alone.unlink()
        except LeaseHeld:
            continue
    return tokens


def main(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    dead = context.Process(target=hold_and_die, args=(folder,))
    dead.start()
    dead.join()
    barrier = context.Barrier(2)
    pipes = [context.Pipe(duplex=False) for _ in range(2)]
    racers = [context.Process(target=race, args=(folder, barrier, sender)) for _, sender in pipes]
    for racer in racers:
        racer.start()
    print(json.dumps([receiver.recv() for receiver, _ in pipes]))  # noqa: T201 - read by the test
    for racer in racers:
        racer.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
