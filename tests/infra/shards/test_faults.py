"""Processes die here, at every point where it could matter."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from infra.shards.journal import Journal, read_events
from infra.shards.plan import plan
from infra.shards.verify import verify
from tests.infra.shards import dying_commits, racing_leases
from tests.infra.shards.dying_commits import KEYS, SHARD, make_shard
from tests.infra.shards.endless_appends import body_of
from tests.infra.shards.samples import make_store, tables_of

ROOT = Path(__file__).parents[3]


def run(module: str, *arguments: str | Path) -> str:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True, timeout=120).stdout


@pytest.mark.parametrize("history", ["first", "again"])
def test_a_killed_commit_is_whole_or_not_at_all_and_resumes_to_the_same_rows(tmp_path: Path, history: str) -> None:
    deaths = int(run(dying_commits.__name__, tmp_path, history))
    old, new = tables_of(SHARD, "hello"), tables_of(SHARD, "good day")
    seen = set()
    for death in range(deaths):
        store = make_store(tmp_path / str(death))
        (planned,) = plan(store, SHARD, 10, "spec-2", reprocess="stale").shards
        rows = {table: store.read(table) for table in store.tables}
        expected = {"committed": new, "stale": old}.get(planned.state)
        if expected is None:
            assert all(table.num_rows == 0 for table in rows.values())
        else:
            assert all(rows[table].equals(expected[table]) for table in rows)
        harmless = {"orphan", "temporary", "journal_open", "journal_torn"}
        assert {finding.kind for finding in verify(store)} <= harmless, death
        seen.add(planned.state)

        events = store.layout.open_journal(SHARD)
        whole = len(read_events(events))
        if planned.state == "committed":
            store.sweep()
        else:
            assert make_shard(store, "spec-2", "good day") == len(KEYS) - whole
        assert all(store.read(table).equals(new[table]) for table in store.tables)
        assert len(read_events(store.layout.archive(SHARD))) == len(KEYS) * (2 if history == "again" else 1), death
        # A temporary lease stays for a minute: it could be a rival's.
        assert [finding for finding in verify(store) if finding.path.parent != store.layout.lease] == [], death
    assert seen == {"committed", "open"} | ({"missing"} if history == "first" else {"stale"})


@pytest.mark.parametrize("acknowledged", [1, 40, 333, 1500])
def test_a_killed_writer_loses_no_event_that_it_was_told_is_written(tmp_path: Path, acknowledged: int) -> None:
    path = tmp_path / "a.journal"
    command = [sys.executable, "-m", "tests.infra.shards.endless_appends", path]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == acknowledged:
                process.kill()
                break
        told = [int(line) for line in process.stdout if line.endswith(b"\n")]
    last = told[-1] if told else acknowledged
    with Journal(path) as journal:
        assert last <= len(journal) <= last + 1
        assert [journal.get(f"event {n}") for n in range(len(journal))] == [body_of(n) for n in range(len(journal))]
        journal.append("after", b"")


def test_of_two_processes_that_race_for_a_lease_exactly_one_wins_each_time(tmp_path: Path) -> None:
    (won, turns), (other_won, other_turns) = json.loads(run(racing_leases.__name__, tmp_path / "lease"))
    assert sorted(map(int, [*won, *other_won])) == list(range(racing_leases.ROUNDS))
    for n, token in (won | other_won).items():
        assert token == 1 + int(n) % 2  # a dead process had the first of each odd round
    tokens = turns + other_turns
    assert len(set(tokens)) == len(tokens) == 2 * racing_leases.TURNS
    assert turns == sorted(turns)
    assert other_turns == sorted(other_turns)
