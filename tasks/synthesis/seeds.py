"""Where every random choice of a record comes from: a hash of (run seed, record id, step).

No choice shares a generator with another, so that nothing that is added, skipped, repeated or reordered moves the rest:
a resumed run, a larger run and a run on other workers draw the same population.
"""

import hashlib
import json

import numpy as np

_SEED_BITS = 31  # Sampling.seed: some servers reject more


def rng(run_seed: int, record_id: str, step: str) -> np.random.Generator:
    """Return the generator of one choice, the same on every machine and in every process.

    The bits are PCG64's and fixed; that numpy turns them into the same draws holds within the locked numpy version.
    """
    return np.random.Generator(np.random.PCG64(_hash("rng", run_seed, record_id, step)))


def call_seed(run_seed: int, record_id: str, step: str, attempt: int = 0) -> int:
    """Return the sampling seed of one model call, below 2**31; each ``attempt`` at a step has its own."""
    return _hash("call", run_seed, record_id, step, attempt) >> (128 - _SEED_BITS)


def record_id(run_seed: int, index: int) -> str:
    """Name the record at position ``index`` of the run's population, such as ``r-1b2c3d4e-00000042``.

    Raises:
        ValueError: ``index`` is negative.
    """
    if index < 0:
        raise ValueError(f"record index {index}: positions in a population start at 0")
    return f"r-{_hash('run', run_seed) >> 96:08x}-{index:08d}"


def _hash(purpose: str, *parts: int | str) -> int:
    """Hash to 128 bits; as JSON, no two lists of parts are spelled alike."""
    spelled = json.dumps([purpose, *parts]).encode()
    return int.from_bytes(hashlib.blake2b(spelled, digest_size=16).digest(), "big")
