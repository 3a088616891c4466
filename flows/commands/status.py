"""``privasis status``: how the runs of a data set are, and what is there of it."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live

from flows.commands.status_view import run_view, stages_view
from flows.config import ConfigError, load_run
from flows.status_file import FOLDER, Life, every_s, life_of, read_all
from infra.run_state import RunState
from infra.shards import files
from infra.shards.layout import Layout
from infra.shards.location import Location
from infra.shards.manifest import Manifest
from infra.shards.ranges import ShardRange

RECORDS = "records"  # the stage that makes what a run file wants


@dataclass(frozen=True, slots=True)
class Stage:
    """What is there of one stage of a data set.

    Attributes:
        shards: committed.
        rows: in their ranges.
        begun: shards that have a journal and are not committed.
        wanted: rows that the run file wants; None where none was given, or it does not say.
    """

    name: str
    shards: int
    rows: int
    begun: int
    wanted: int | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """All that is known of a data set's runs."""

    folder: Location
    runs: tuple[tuple[RunState, Life], ...]
    stages: tuple[Stage, ...]

    @property
    def lives(self) -> bool:
        """Whether some run is not over."""
        return any(life in ("runs", "silent") for _, life in self.runs)


def run(folder: Location | None, config: Path | None, *, watch: bool, as_json: bool) -> None:
    """Show it once, or until the runs are over.

    Raises:
        ConfigError: it is not said which data set, or there is none; or both ``watch`` and ``as_json``.
        ManifestCorrupt: two shards claim the same row.
    """
    if watch and as_json:
        raise ConfigError("--watch is for people, --json for programs: leave one out")
    look = _looker(folder, config)
    if as_json:
        sys.stdout.write(f"{json.dumps(plain(look()), indent=2, ensure_ascii=False)}\n")
        return
    console = Console()
    if not watch:
        console.print(view(look(), datetime.now(UTC)))
        return
    with Live(console=console, auto_refresh=False) as live:
        while True:
            status = look()
            live.update(view(status, datetime.now(UTC)), refresh=True)
            if not status.lives:
                return
            time.sleep(every_s(status.folder))


def status_of(folder: Location, wanted: ShardRange | None = None) -> Status:
    """Read what is known of the data set in ``folder``; nothing is asked of anybody.

    Args:
        folder: of the data set.
        wanted: rows that a run file wants.

    Raises:
        ConfigError: no data set is there.
    """
    home = folder.resolve()
    if not any(files.is_folder(home / name) for name in ("manifest", "journal", FOLDER)):
        raise ConfigError(f"{folder}: no data set here: give the folder <root>/<name> of `privasis synthesize`")
    now = datetime.now(UTC)
    runs = tuple((state, life_of(state, now)) for _, state in read_all(home / FOLDER))
    names = {name for place in ("manifest", "journal") for name in files.names(home / place)}
    return Status(folder, runs, tuple(_stage(home, name, wanted) for name in sorted(names)))


def view(status: Status, now: datetime) -> Group:
    """Lay it out for a person."""
    parts = [run_view(state, life, now) for state, life in status.runs]
    return Group(*parts, stages_view(status.folder, [asdict(stage) for stage in status.stages], bool(parts)))


def plain(status: Status) -> dict[str, object]:
    """Return it as JSON values."""
    return {
        "runs": [{"life": life} | state.model_dump(mode="json") for state, life in status.runs],
        "stages": [asdict(stage) for stage in status.stages],
    }


def _looker(folder: Location | None, config: Path | None) -> Callable[[], Status]:
    if (folder is None) == (config is None):
        raise ConfigError("say which data set: its folder <root>/<name>, or the run file with -c")
    if folder is not None:
        return lambda: status_of(folder)
    run = load_run(config, {})
    return lambda: status_of(run.root / run.dataset, run.wanted)


def _stage(home: Location, name: str, wanted: ShardRange | None) -> Stage:
    layout = Layout(home.parent, home.name, name, ())
    shards = Manifest(layout.manifest).shards()
    done = set(shards)
    begun = sum(shard not in done for shard, _ in layout.open_journals())
    return Stage(name, len(shards), sum(map(len, shards)), begun, len(wanted) if wanted and name == RECORDS else None)
