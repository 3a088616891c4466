"""The only truth about what is done: one small JSON file a committed shard."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from infra.llm.types import Usage
from infra.shards import files, look
from infra.shards.location import Location
from infra.shards.ranges import ShardRange

SUFFIX = ".json"


class ManifestCorrupt(Exception):
    """An entry of a manifest cannot be read, or two of them claim the same row."""


class AlreadyCommitted(Exception):
    """A shard, or rows of it, are in the manifest."""


class FileRecord(BaseModel):
    """One data file of a shard."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int = Field(ge=0)
    bytes: int = Field(ge=0)
    sha256: str


class ShardSummary(BaseModel):
    """What a stage reports about the rows it made.

    Attributes:
        reasons: how many rows were not kept, by reason.
        tokens: tokens of the calls that these rows needed, as billed.
        calls: model calls answered for these rows, replayed ones included.
        cost_usd: what those calls cost.
        versions: of this software, Python, Ray, Prefect and whatever else shaped the run.
        notes: anything the stage wants to find again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reasons: Mapping[str, int] = Field(default_factory=dict)
    tokens: Usage = Usage()
    calls: int = Field(default=0, ge=0)
    cost_usd: float = Field(default=0.0, ge=0)
    versions: Mapping[str, str] = Field(default_factory=dict)
    notes: Mapping[str, JsonValue] = Field(default_factory=dict)


class ShardRecord(BaseModel):
    """The manifest's entry of one committed shard.

    Attributes:
        shard: the rows it holds.
        stage: who made it.
        spec_hash: of everything that shaped the rows.
        input_hashes: what the stage read, name -> content hash.
        files: table -> the file of this shard in it.
        summary: what the stage reports.
        created_at: when it was committed, in UTC.
        fencing_token: of the lease it was committed under.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    shard: ShardRange
    stage: str
    spec_hash: str
    input_hashes: Mapping[str, str]
    files: Mapping[str, FileRecord]
    summary: ShardSummary
    created_at: AwareDatetime
    fencing_token: int = Field(ge=1)

    @property
    def rows(self) -> int:
        """Rows in all tables together."""
        return sum(file.rows for file in self.files.values())


class Manifest:
    """The entries of one stage, a file each, so that workers never wait for each other."""

    def __init__(self, directory: Location) -> None:
        self.directory = directory

    def path(self, shard: ShardRange) -> Location:
        """Return where the entry of ``shard`` is, or would be."""
        return self.directory / f"{shard.name}{SUFFIX}"

    def shards(self) -> list[ShardRange]:
        """Return the committed shards in order, without reading their entries.

        Raises:
            ManifestCorrupt: two of them have rows in common.
        """
        found = (ShardRange.of_file(name, SUFFIX) for name in look.names(self.directory))
        shards = sorted(shard for shard in found if shard is not None)
        for one, other in pairwise(shards):
            if one.overlaps(other):
                raise ManifestCorrupt(
                    f"{self.path(one)} and {self.path(other)} both claim row {other.start}: delete the entry that is"
                    " not wanted and its data files"
                )
        return shards

    def records(self, overlapping: ShardRange | None = None) -> dict[ShardRange, ShardRecord]:
        """Return all entries, or those with rows of ``overlapping``, in order of their rows.

        Raises:
            ManifestCorrupt: an entry cannot be read, or two of them have rows in common.
        """
        with look.one_look():
            shards = [shard for shard in self.shards() if overlapping is None or shard.overlaps(overlapping)]
            return dict(zip(shards, files.mapped(self.record, shards, self.directory), strict=True))

    def record(self, shard: ShardRange) -> ShardRecord:
        """Return the entry of ``shard``; within ``one_look``, the one that was seen in it.

        Raises:
            KeyError: it is not committed.
            ManifestCorrupt: the entry cannot be read.
        """
        return self._parsed(shard, look.read(self.path(shard)))

    def record_now(self, shard: ShardRange) -> ShardRecord:
        """Return the entry of ``shard`` as it is now; errors as of ``record``."""
        return self._parsed(shard, files.read(self.path(shard)))

    def put(self, record: ShardRecord) -> None:
        """Commit: with this the shard is done, before it is not. The entry is there whole or not at all.

        Raises:
            AlreadyCommitted: the shard has an entry; remove it first.
        """
        path = self.path(record.shard)
        if not files.create(path, record.model_dump_json(indent=1).encode()):
            raise AlreadyCommitted(f"{path}: another worker has committed {record.shard.name}")

    def remove(self, shard: ShardRange) -> None:
        """Make ``shard`` undone; its data files stay and mean nothing any more."""
        files.delete(self.path(shard))

    def _parsed(self, shard: ShardRange, data: bytes | None) -> ShardRecord:
        path = self.path(shard)
        if data is None:
            raise KeyError(f"{path}: {shard.name} is not committed")
        try:
            record = ShardRecord.model_validate_json(data)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ManifestCorrupt(_repair(path, f"{place}: {first['msg']}" if place else first["msg"])) from error
        if record.shard != shard:
            raise ManifestCorrupt(_repair(path, f"speaks of {record.shard.name}"))
        return record


def _repair(path: Location, fault: str) -> str:
    return (
        f"{path}: {fault}. Let `privasis shards repair --yes` set it aside, then resume: the shard is made again, paid"
        " answers come from its journal"
    )
