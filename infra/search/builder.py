"""Fills indexes in the background, one shard after the other, and says how far it is."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from infra.search.index import IndexDamaged, Indexed, SearchIndex

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """A table to be indexed.

    Attributes:
        path: the index's file.
        facets: their names.
        shards: name -> hash of the data file, in the order in which they are to be indexed, as it is now.
        rows: the rows of a shard.
    """

    path: Path
    facets: tuple[str, ...]
    shards: Callable[[], Mapping[str, str]]
    rows: Callable[[str], Iterable[Indexed]]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index is.

    Attributes:
        done: shards that are in it as they are now.
        of: shards there are.
        failed: shards that cannot be read, and why.
        trouble: why the last attempt to go on ended; empty where it did not.
    """

    done: int
    of: int
    failed: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""

    @property
    def complete(self) -> bool:
        """Whether there is nothing left to do."""
        return self.done + len(self.failed) >= self.of


@dataclass
class Builder:
    """One thread that brings indexes up to date as they are asked for.

    Attributes:
        expected: what may be wrong with a shard: it is left out, and told.
        passing: what ends an attempt and may pass, such as a store that does not answer: the next ``want`` goes on.
            A full disk, a lock and a damaged index are of these by themselves.
    """

    expected: tuple[type[Exception], ...]
    passing: tuple[type[Exception], ...] = ()
    _queue: list[Source] = field(default_factory=list)
    _wake: threading.Condition = field(default_factory=threading.Condition)
    _failed: dict[tuple[Path, str, str], str] = field(default_factory=dict)  # index, shard, hash -> why
    _trouble: dict[Path, str] = field(default_factory=dict)
    _ended: bool = False
    _thread: threading.Thread | None = None

    def want(self, source: Source) -> Progress:
        """Have an index brought up to date, and say how far it is."""
        progress, stray = self._look(source)
        if not progress.complete or stray:
            with self._wake:
                if all(each.path != source.path for each in self._queue):
                    self._queue.append(source)
                if self._thread is None or not self._thread.is_alive():  # a bug may have ended it
                    self._thread = threading.Thread(target=self._work, name="index", daemon=True)
                    self._thread.start()
                self._wake.notify()
        return progress

    def close(self) -> None:
        """End after the shard at hand; what is indexed stays so."""
        with self._wake:
            self._ended = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()

    def _look(self, source: Source) -> tuple[Progress, bool]:
        """Return how far an index is, and whether it has shards that are no longer there."""
        wanted = source.shards()
        with closing(SearchIndex(source.path, source.facets)) as index:
            known = index.shards()
        done = sum(known.get(name) == sha256 for name, sha256 in wanted.items())
        failed = {
            name: why for name, sha256 in wanted.items() if (why := self._failed.get((source.path, name, sha256)))
        }
        return Progress(
            done, len(wanted), failed, self._trouble.get(source.path, "")
        ), not known.keys() <= wanted.keys()

    def _work(self) -> None:
        passing: tuple[type[Exception], ...] = (sqlite3.Error, OSError, IndexDamaged, *self.passing)
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._queue or self._ended)
                if self._ended:
                    return
                source = self._queue[0]
            try:
                self._fill(source)
                self._trouble.pop(source.path, None)
            except passing as error:
                self._trouble[source.path] = str(error)
                logger.warning("%s: not brought up to date: %s", source.path.name, error)
            finally:
                with self._wake:
                    self._queue.remove(source)

    def _fill(self, source: Source) -> None:
        with closing(SearchIndex(source.path, source.facets)) as index:
            wanted, known = source.shards(), index.shards()
            for name in known.keys() - wanted.keys():
                index.drop(name)
            for name, sha256 in wanted.items():
                key = (source.path, name, sha256)
                if self._ended:
                    return
                if known.get(name) == sha256 or key in self._failed:
                    continue
                try:
                    index.put(name, sha256, source.rows(name))
                except self.expected as error:
                    self._failed[key] = str(error)
                    logger.warning("not in the index: %s", error)
