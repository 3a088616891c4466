"""What there is under a root: data sets, their stages, what their manifests say. Nothing outside is ever opened."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from threading import Lock

import pyarrow as pa

from flows.browse.stages import EVALUATIONS, STAGE_OF, STAGES
from infra.shards import files
from infra.shards.entries import Entries, Entry, WatchedManifest
from infra.shards.location import Location, ObjectPath
from infra.shards.rows import ShardedRows
from infra.shards.store import StageStore

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # as of infra.shards.layout
_PLACES = ("manifest", "journal", EVALUATIONS)


class NotThere(LookupError):
    """No such data set, stage, table or row."""


@dataclass(frozen=True, slots=True)
class StageName:
    """A stage of a data set; an evaluation is told by its name."""

    dataset: str
    stage: str
    evaluation: str = ""

    @property
    def key(self) -> str:
        """The stage as it stands in an address, such as ``triplets`` or ``evaluations.NAME``."""
        return f"{self.stage}.{self.evaluation}" if self.evaluation else self.stage


@dataclass(frozen=True)
class Stage:
    """A stage as it was at one moment."""

    name: StageName
    store: StageStore
    entries: Entries

    def rows(self, table: str) -> ShardedRows:
        """Return the rows of a table of it."""
        return ShardedRows(self.store.layout, table, self.store.tables[table], self.entries.entries)

    @cached_property
    def by_name(self) -> Mapping[str, Entry]:
        """Its committed shards by name."""
        return {entry.shard.name: entry for entry in self.entries.entries}

    @property
    def kept(self) -> str:
        """The table of what it made; its others hold what it could not make."""
        return next(iter(self.store.tables))

    @cached_property
    def rejected(self) -> int:
        """Rows that it could not make."""
        return sum(self.entries.rows(table) for table in list(self.store.tables)[1:])

    @property
    def latest(self) -> datetime | None:
        """When its last shard was committed."""
        return max((entry.created_at for entry in self.entries.entries), default=None)

    @cached_property
    def cost_usd(self) -> float:
        """What it cost."""
        return sum(entry.cost_usd for entry in self.entries.entries)

    @cached_property
    def tokens(self) -> int:
        """Tokens read and written."""
        return sum(entry.tokens.prompt + entry.tokens.completion for entry in self.entries.entries)


class Catalog:
    """The data sets of a root. Threads share it; what has not changed on the disk is not read again."""

    def __init__(self, root: Location) -> None:
        self.root = root.resolve()
        self._manifests: dict[StageName, WatchedManifest] = {}
        self._lock = Lock()

    def datasets(self) -> list[str]:
        """Return their names: folders of the root with a manifest or a journal. Links that lead out of it are none."""
        names = _folders(self.root)
        there = files.mapped(lambda name: self._is_dataset(self.root / name), names, self.root)
        return [name for name, is_one in zip(names, there, strict=True) if is_one]

    def stages(self, dataset: str) -> list[Stage]:
        """Return the stages that have begun, in the order of the work.

        Raises:
            NotThere: there is no such data set.
        """
        return [self._stage(name) for name in self._names(dataset)]

    def stage(self, dataset: str, key: str) -> Stage:
        """Return a stage by its name in an address.

        Raises:
            NotThere: there is none.
        """
        for name in self._names(dataset):
            if name.key == key:
                return self._stage(name)
        raise NotThere(f"Data set {dataset} has no stage {key}.")

    def table(self, dataset: str, key: str) -> tuple[Stage, str]:
        """Return the stage of a table, and the table's name, such as of ``rejects`` or ``evaluations.NAME``.

        Raises:
            NotThere: there is none.
        """
        table, _, evaluation = key.partition(".")
        if table not in STAGE_OF:
            raise NotThere(f"There is no table {key}.")
        stage = StageName(dataset, STAGE_OF[table], evaluation)
        return self.stage(dataset, stage.key), table

    def unknown(self, dataset: str) -> list[str]:
        """Return the names of stages that this release does not know."""
        return [name for name in _folders(self._home(dataset) / "manifest") if name not in STAGES]

    def _names(self, dataset: str) -> Iterator[StageName]:
        home = self._home(dataset)
        begun = {name for place in ("manifest", "journal") for name in _folders(home / place)}
        for stage in STAGES:
            if stage == EVALUATIONS:
                for name in _folders(home / EVALUATIONS):
                    each = home / EVALUATIONS / name
                    if self._inside(each) and any(_folders(each / place) for place in ("manifest", "journal")):
                        yield StageName(dataset, stage, name)
            elif stage in begun:
                yield StageName(dataset, stage)

    def _home(self, dataset: str) -> Location:
        if not _NAME.fullmatch(dataset) or not self._is_dataset(self.root / dataset):
            raise NotThere(f"There is no data set {dataset}.")
        return self.root / dataset

    def _is_dataset(self, folder: Location) -> bool:
        return self._inside(folder) and any(files.is_folder(folder / place) for place in _PLACES)

    def _inside(self, folder: Location) -> bool:
        """Tell whether no link leads out of the root; an object store has none."""
        if isinstance(folder, ObjectPath) or isinstance(self.root, ObjectPath):
            return True
        return folder.resolve().is_relative_to(self.root)

    def _stage(self, name: StageName) -> Stage:
        tables: Mapping[str, pa.Schema] = STAGES[name.stage]
        root, folder = self.root, name.dataset
        if name.evaluation:
            root, folder = self.root / name.dataset / EVALUATIONS, name.evaluation
        store = StageStore(root, folder, name.stage, tables)
        home = root / folder
        for place in (f"manifest/{name.stage}", *tables):
            if not self._inside(home / place):
                raise NotThere(f"{place} of data set {name.dataset} is a link to somewhere else: it is not shown.")
        with self._lock:
            manifest = self._manifests.setdefault(name, WatchedManifest(home / "manifest" / name.stage))
        return Stage(name, store, manifest.entries())


def above(stage: Stage, stages: Iterable[Stage]) -> Mapping[str, Entries]:
    """Return the entries of the other ``stages`` of a data set by table: what ``stage`` may have read."""
    return {
        table: other.entries
        for other in stages
        if other.name.stage != stage.name.stage and not other.name.evaluation
        for table in other.store.tables
    }


def _folders(place: Location) -> list[str]:
    return [name for name in files.folders(place) if _NAME.fullmatch(name)]
