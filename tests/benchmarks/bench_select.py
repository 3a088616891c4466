"""Selection and propagation, tokens/s and growth: ``python -m tests.benchmarks.bench_select [millions of tokens ...]``.

By default 1, 3, 10 and 30 million tokens, on one thread; processor seconds, as the machine may be busy with other work.
Records of 1,024 tokens of a skewed vocabulary, 400 to a group; each holds its group's secret of twelve tokens, which is
surprising in a third of them, so that propagation has work.
"""

import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tasks.surprise.propagate import propagate, propagate_levels
from tasks.surprise.repeats import find_repeats
from tasks.surprise.rows import I64, Bool
from tasks.surprise.scores import mean_scores
from tasks.surprise.select import consensus, local_ranks, select_global, select_local
from tasks.surprise.windows import fixed_windows

RECORD = 1024
GROUP_RECORDS = 400
VOCABULARY = 50_000
SECRET = 12
WIDTH = 4
TAU = 6.0
R_MAX = 1.6
T = TypeVar("T")


class Clock:
    """Processor seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, step: str, action: Callable[[], T]) -> T:
        start = time.process_time()
        result = action()
        self.seconds[step] = time.process_time() - start
        return result


def corpus(tokens: int) -> tuple[I64, npt.NDArray[np.float32], I64, I64]:
    """Ids, NLL, row offsets and groups."""
    rng = np.random.default_rng(tokens)
    records = tokens // RECORD
    shape = (records, RECORD)
    ids = np.minimum(VOCABULARY - 1, rng.exponential(900.0, size=shape) ** 1.3).astype(np.int64)
    nll = rng.standard_exponential(size=shape, dtype=np.float32)
    groups = np.arange(records) // GROUP_RECORDS
    secrets = rng.integers(0, VOCABULARY, size=(int(groups[-1]) + 1, SECRET))
    place = rng.integers(0, RECORD - SECRET, size=records)[:, None] + np.arange(SECRET)
    surprise = np.where(rng.random((records, 1)) < 1 / 3, 9.0, 1.0) * rng.random((records, SECRET))
    np.put_along_axis(ids, place, secrets[groups], axis=1)
    np.put_along_axis(nll, place, surprise.astype(np.float32) + 1, axis=1)
    return ids.reshape(-1), nll.reshape(-1), np.arange(records + 1) * RECORD, groups


def select(clock: Clock, nll: npt.NDArray[np.float32], offsets: I64) -> Bool:
    windows = clock("windows", lambda: fixed_windows(offsets, WIDTH))
    scores = clock("scores", lambda: mean_scores(nll, windows))
    mask = clock("global", lambda: consensus(windows, select_global(scores, TAU), 1, nll.size))
    ranks = clock("local ranks", lambda: local_ranks(scores, windows.row_offsets))
    clock("consensus", lambda: consensus(windows, select_local(ranks, R_MAX), WIDTH, nll.size))
    return mask


def measure(tokens: int) -> tuple[int, dict[str, float]]:
    clock = Clock()
    ids, nll, offsets, groups = corpus(tokens)
    mask = select(clock, nll, offsets)
    everything = np.ones(ids.size, dtype=np.bool_)
    repeats = clock("repeats", lambda: find_repeats(ids, offsets, groups, everything, width=WIDTH))
    spread = clock("propagation", lambda: propagate(mask, repeats))
    levels = np.where(nll >= 1.0, nll, -np.inf)
    clock("all taus", lambda: propagate_levels(levels, repeats))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{ids.size / 1e6:.2f} million tokens, {mask.mean():.2%} masked, {spread.mean():.2%} after propagation,"
        f" peak {peak:.2f} GiB"
    )
    return ids.size, clock.seconds


def main() -> None:
    millions = [float(argument) for argument in sys.argv[1:]] or [1.0, 3.0, 10.0, 30.0]
    smaller: tuple[int, dict[str, float]] | None = None
    for size, seconds in (measure(int(million * 1e6)) for million in millions):
        for step, took in seconds.items():
            growth = "" if smaller is None else f"   {took / smaller[1][step]:5.2f}x time"
            print(f"    {step:12s} {took:8.3f} s {size / took / 1e6:8.1f} M tokens/s{growth}")
        if smaller is not None:
            print(f"    for {size / smaller[0]:.2f}x the tokens")
        smaller = (size, seconds)


if __name__ == "__main__":
    main()
