"""The Vendi difference against vendi-score: ``python -m tests.benchmarks.bench_vendi``; one BLAS thread, some seconds.

The package is given the pool's Gram matrix for nothing: its pair is two borders and two calls of ``score_K``.
"""

import time
import warnings
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits
from vendi_score import vendi

from tasks.diversity.vendi import F64, Pool

DIMENSIONS = 384
DRAFTS = 4  # of one record: the first and three refinements


def unit(rows: F64) -> F64:
    normalised: F64 = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return normalised


def package_scores(pool: F64, gram: F64, drafts: F64) -> list[float]:
    scores = []
    for x in drafts:
        border = (pool @ x)[:, None]
        scores.append(float(vendi.score_K(np.block([[gram, border], [border.T, np.ones((1, 1))]]))))
    return scores


def our_scores(prepared: Pool, drafts: F64) -> list[float]:
    return [prepared.score_with(x) for x in drafts]  # one by one, as a record's drafts come


def milliseconds(action: Callable[[], object], repeats: int) -> float:
    action()
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        took.append(time.perf_counter() - start)
    return 1e3 * min(took)  # what else runs on the machine only ever adds


def measure(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = unit(rng.normal(size=(n + DRAFTS, DIMENSIONS)) + 0.7 * rng.normal(size=(1, DIMENSIONS)))
    pool, drafts = rows[:n], rows[n:]
    gram, prepared = pool @ pool.T, Pool.prepare(pool)
    error = np.max(np.abs(np.array(package_scores(pool, gram, drafts)) / our_scores(prepared, drafts) - 1))

    package_pair = milliseconds(lambda: package_scores(pool, gram, drafts[:2]), 7)
    our_pair = milliseconds(lambda: our_scores(prepared, drafts[:2]), 101)
    package_record = milliseconds(lambda: package_scores(pool, gram, drafts), 5)
    our_record = milliseconds(lambda: our_scores(Pool.prepare(pool), drafts), 11)
    print(
        f"{n:5d} {package_pair:10.2f} {our_pair:9.3f} {package_pair / our_pair:7.0f}x"
        f" {package_record:12.1f} {our_record:9.1f} {package_record / our_record:7.1f}x {error:10.0e}"
    )


def main() -> None:
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # vendi-score's use of scipy.sparse.csr
    print(f"milliseconds, best of several; d = {DIMENSIONS}, one thread")
    print(f"a record is {DRAFTS} drafts with the preparation of its pool counted")
    print("    n   package      ours             package         ours              relative")
    print("         a pair    a pair   ratio     a record     a record   ratio        error")
    with threadpool_limits(limits=1):
        for n in (300, 512, 1024):
            measure(n)


if __name__ == "__main__":
    main()
