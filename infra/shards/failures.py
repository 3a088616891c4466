"""Why the last attempt at a shard failed: a small file a shard, beside the manifest, gone with the next success."""

from collections.abc import Collection
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import TracebackType

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from infra.shards import files
from infra.shards.layout import Layout
from infra.shards.lease import LeaseHeld
from infra.shards.location import Location
from infra.shards.ranges import ShardRange

FOLDER = "failed"
SUFFIX = ".json"
LONGEST = 2_000  # characters of a message: some servers answer with a page


class FailureNote(BaseModel):
    """What went wrong.

    Attributes:
        error: the exception's class.
        message: what it says.
        failed_at: when, in UTC.
        attempts: failures in a row, those included that a run has tried again by itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    shard: ShardRange
    error: str
    message: str
    failed_at: AwareDatetime
    attempts: int = Field(ge=1)

    def __str__(self) -> str:
        times = f", {self.attempts} times in a row" if self.attempts > 1 else ""
        return f"{self.error}: {self.message.removeprefix(f'{self.shard.name}: ')}{times}"


class FailureNotes:
    """The notes of one stage. They are for people and choose what a backfill does; what is done, the manifest says."""

    def __init__(self, layout: Layout) -> None:
        self.directory: Location = layout.manifest.parent.parent / FOLDER / layout.manifest.name

    def path(self, shard: ShardRange) -> Location:
        """Return where the note of ``shard`` is, or would be."""
        return self.directory / f"{shard.name}{SUFFIX}"

    def all(self, but: Collection[ShardRange] = ()) -> dict[ShardRange, FailureNote]:
        """Return the notes by shard, in order; one that cannot be read says so itself.

        Args:
            but: shards whose notes mean nothing, such as those that are committed.
        """
        found = (ShardRange.of_file(name, SUFFIX) for name in files.names(self.directory))
        return {
            shard: note for shard in sorted(filter(None, found)) if shard not in but and (note := self._read(shard))
        }

    def put(self, shard: ShardRange, error: BaseException) -> None:
        """Note that an attempt at ``shard`` has failed."""
        before = self._read(shard)
        note = FailureNote(
            shard=shard,
            error=type(error).__name__,
            message=str(error)[:LONGEST],
            failed_at=datetime.now(UTC),
            attempts=1 + (before.attempts if before else 0),
        )
        files.put(self.path(shard), note.model_dump_json(indent=1).encode())

    def clear(self, shard: ShardRange) -> None:
        """Forget the failures of ``shard``."""
        if files.exists(self.path(shard)):
            files.delete(self.path(shard))

    def _read(self, shard: ShardRange) -> FailureNote | None:
        path = self.path(shard)
        data = files.read(path)
        if data is None:
            return None
        try:
            return FailureNote.model_validate_json(data)
        except ValidationError as error:
            fault = f"the note {path} cannot be read ({error.error_count()} errors): delete it"
            return FailureNote(shard=shard, error="?", message=fault, failed_at=datetime.now(UTC), attempts=1)


class Attempt(AbstractContextManager["Attempt"]):
    """An attempt at a shard: if the block raises, its error is noted, else an earlier note is cleared.

    No failure: that another worker has the shard, and what is in ``passing``, such as that the run was stopped.
    """

    def __init__(self, layout: Layout, shard: ShardRange, passing: tuple[type[BaseException], ...] = ()) -> None:
        self._notes = FailureNotes(layout)
        self._shard = shard
        self._passing: tuple[type[BaseException], ...] = (LeaseHeld, *passing)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is None:
            self._notes.clear(self._shard)
        elif isinstance(error, Exception) and not isinstance(error, self._passing):
            self._notes.put(self._shard, error)
