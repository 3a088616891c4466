"""Decides which call goes wrong, and how: a function of the seed, the body, and how often that body came before."""

from collections.abc import Mapping
from hashlib import blake2b
from random import Random
from typing import Literal

from infra.engines.simulator.config import (
    CONTENT_FAULTS,
    JSON_FAULTS,
    LASTING_FAULTS,
    TEXT_FAULTS,
    TRANSPORT_FAULTS,
    Fault,
    SimulatorConfig,
)

Asked = Literal["text", "json", "vectors"]

_SENSIBLE: Mapping[Asked, frozenset[Fault]] = {
    "text": frozenset((*TRANSPORT_FAULTS, *LASTING_FAULTS, *CONTENT_FAULTS, *TEXT_FAULTS)),
    "json": frozenset((*TRANSPORT_FAULTS, *LASTING_FAULTS, *CONTENT_FAULTS, *JSON_FAULTS)),
    "vectors": frozenset((*TRANSPORT_FAULTS, *LASTING_FAULTS)),
}


def body_key(body: bytes) -> int:
    """Hash a request's body to 8 bytes: two of a million bodies share one with a probability of 3e-8."""
    return int.from_bytes(blake2b(body, digest_size=8).digest())


def generator(*parts: int) -> Random:
    """Return a generator that depends on all of ``parts`` (64 bits each) and on nothing else."""
    return Random(blake2b(b"".join([part.to_bytes(8) for part in parts]), digest_size=8).digest())


class FaultPlan:
    """Which calls go wrong under one configuration."""

    def __init__(self, config: SimulatorConfig) -> None:
        self._seed = config.seed
        self._rate = config.fault_rate
        self._faults: dict[Asked, tuple[Fault, ...]] = {
            asked: tuple(fault for fault in config.faults if fault in sensible) for asked, sensible in _SENSIBLE.items()
        }

    def draw(self, asked: Asked, key: int, attempt: int) -> tuple[Fault | None, Random]:
        """Draw the fault of one call, and the generator that its details come from.

        Args:
            asked: what the call is for; faults that make no sense for it are left out.
            key: ``body_key`` of its body.
            attempt: how often this body came before, so that a retry draws anew.
        """
        rng = generator(self._seed, key, attempt)
        faults = self._faults[asked]
        is_faulty = rng.random() < self._rate and faults
        return (faults[int(rng.random() * len(faults))] if is_faulty else None), rng


def latency_s(config: SimulatorConfig, rng: Random) -> float:
    """Draw how long one answer takes."""
    factor = rng.lognormvariate(0, config.latency_jitter) if config.latency_jitter else 1.0
    return config.latency_ms / 1000 * factor
