"""One worker a shard: leases that a dead worker cannot keep and a slow one cannot use once they are lost.

A lease is a file that carries its fencing token in its name, and the highest token rules. Taking over means to create
the next token exclusively, so that of any number of workers who find a lease free exactly one gets it, and nobody
ever deletes a lease in force.
"""

import threading
import time
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from infra.shards import files
from infra.shards.location import Location
from infra.shards.owner import Owner
from infra.shards.ranges import ShardRange

SUFFIX = ".json"


class LeaseHeld(Exception):
    """Another worker has the shard; the message says who and until when."""


class LeaseLost(Exception):
    """The lease was ours and is not any more: stop, write nothing."""


class LeaseCorrupt(Exception):
    """A lease file cannot be read."""


class LeaseState(BaseModel):
    """What a lease file says.

    Attributes:
        token: the fencing token, higher than that of any earlier lease of this shard.
        renewed_at: the owner's clock at the last sign of life.
        ttl_s: seconds after ``renewed_at`` in which others keep away.
        released: the owner is done with it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    shard: ShardRange
    token: int = Field(ge=1)
    owner: Owner
    renewed_at: AwareDatetime
    ttl_s: float = Field(gt=0)
    released: bool = False

    @property
    def until(self) -> datetime:
        """When others may take the lease, unless it is renewed."""
        return self.renewed_at + timedelta(seconds=self.ttl_s)

    def is_free(self) -> bool:
        """Tell whether another worker may take the shard: released, out of time, or its owner known to be dead."""
        return self.released or datetime.now(UTC) >= self.until or self.owner.is_dead()

    def __str__(self) -> str:
        return f"{self.shard.name}: held by {self.owner} until {self.until.isoformat(timespec='seconds')}"


class Lease:
    """The right to work on one shard. Its owner renews it well within ``ttl_s``; threads may share it."""

    def __init__(self, directory: Location, state: LeaseState) -> None:
        self.directory = directory
        self._state = state
        self._lock = threading.Lock()  # a heartbeat in flight must not undo a release
        self._seen_at = time.monotonic()  # when it was ours for certain

    @property
    def shard(self) -> ShardRange:
        """The shard it is for."""
        return self._state.shard

    @property
    def token(self) -> int:
        """The fencing token."""
        return self._state.token

    def check(self) -> None:
        """Make sure that the lease is ours.

        Raises:
            LeaseLost: it was released, or another worker has taken it.
        """
        highest = max(_tokens(self.directory, self.shard), default=0)
        if self._state.released or highest != self.token:
            raise LeaseLost(f"{self.shard.name}: lease {self.token} is lost, {highest} is in force: write nothing more")

    def check_unless_fresh(self) -> None:
        """Do as ``check``, but ask nobody while it was renewed so lately that no other can have taken it."""
        if time.monotonic() - self._seen_at > self._state.ttl_s / 2:
            self.check()

    def renew(self) -> None:
        """Give a sign of life.

        Raises:
            LeaseLost: it was released, or another worker has taken it.
        """
        with self._lock:
            self.check()
            asked_at = time.monotonic()
            self._write(self._state.model_copy(update={"renewed_at": datetime.now(UTC)}))
            self._seen_at = asked_at

    def release(self) -> None:
        """Let others have the shard at once. The file stays, so that the next token is higher."""
        with self._lock:
            try:
                self.check()
            except LeaseLost:  # then there is nothing to give back
                return
            self._write(self._state.model_copy(update={"released": True}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def _write(self, state: LeaseState) -> None:
        files.put(_path(self.directory, state.shard, state.token), state.model_dump_json().encode())
        self._state = state


def acquire(directory: Location, shard: ShardRange, *, ttl_s: float, owner: Owner | None = None) -> Lease:
    """Take the lease of ``shard``.

    Args:
        directory: where the leases of a stage are.
        shard: the shard.
        ttl_s: seconds without a sign of life after which others may take it.
        owner: who takes it; this process by default.

    Raises:
        LeaseHeld: another worker has it, has just been faster, or works on rows of it in a shard cut otherwise.
    """
    before = current(directory, shard)
    if before is not None and not before.is_free():
        raise LeaseHeld(str(before))
    token = before.token + 1 if before else 1
    state = LeaseState(shard=shard, token=token, owner=owner or Owner.here(), renewed_at=datetime.now(UTC), ttl_s=ttl_s)
    ours = _path(directory, shard, token)
    if not files.create(ours, state.model_dump_json().encode()):
        raise LeaseHeld(f"{shard.name}: another worker took lease {token} in this moment")
    tokens = _tokens(directory, shard)
    if max(tokens) != token:  # we were slow: others took, released and took it again since we looked
        files.delete(ours)
        raise LeaseHeld(f"{shard.name}: another worker took lease {max(tokens)} in this moment")
    lease = Lease(directory, state)
    # Whoever of two overlapping workers looks last sees the other, as each looks after it has created its own.
    if others := live(directory, overlapping=shard, but=(shard,)):
        lease.release()
        raise LeaseHeld("; ".join(str(other) for other in others.values()))
    for old in tokens - {token}:
        files.delete(_path(directory, shard, old))
    return lease


def current(directory: Location, shard: ShardRange) -> LeaseState | None:
    """Return the lease in force, free or not, or None if there never was one.

    Raises:
        LeaseCorrupt: its file cannot be read.
    """
    while token := max(_tokens(directory, shard), default=0):
        if (state := _read(directory, shard, token)) is not None:
            return state
    return None


def live(
    directory: Location, *, overlapping: ShardRange, but: Collection[ShardRange] = ()
) -> dict[ShardRange, LeaseState]:
    """Return the leases that keep others away from rows of ``overlapping``, without those of the shards in ``but``.

    Raises:
        LeaseCorrupt: a lease file cannot be read.
    """
    highest: dict[ShardRange, int] = {}
    for name in files.names(directory):
        if entry := _parse(name):
            highest[entry[0]] = max(entry[1], highest.get(entry[0], 0))
    found = {}
    for shard, token in highest.items():
        if shard.overlaps(overlapping) and shard not in but:
            state = _read(directory, shard, token) or current(directory, shard)
            if state is not None and not state.is_free():
                found[shard] = state
    return found


def _read(directory: Location, shard: ShardRange, token: int) -> LeaseState | None:
    """Return a lease, or None if a newer one has replaced it since its name was seen."""
    path = _path(directory, shard, token)
    data = files.read(path)
    try:
        return None if data is None else LeaseState.model_validate_json(data)
    except ValidationError as error:
        raise LeaseCorrupt(f"{path}: {error.error_count()} errors: if nobody works here, delete it") from error


def _path(directory: Location, shard: ShardRange, token: int) -> Location:
    return directory / f"{shard.name}.{token}{SUFFIX}"


def _tokens(directory: Location, shard: ShardRange) -> set[int]:
    return {entry[1] for name in files.names(directory, f"{shard.name}.") if (entry := _parse(name))}


def _parse(name: str) -> tuple[ShardRange, int] | None:
    """Return shard and token of a lease's file name, or None for any other name."""
    stem, _, token = name.removesuffix(SUFFIX).rpartition(".")
    shard = ShardRange.of_file(stem, "")
    return (shard, int(token)) if shard and name.endswith(SUFFIX) and token.isdecimal() else None
