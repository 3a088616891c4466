"""What a run says of itself, and what is made of its last word when it is over."""

import json
import os
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from flows.budget import Budget
from flows.status import Observer, Pace, published
from flows.status_file import FOLDER, StatusUnreadable, begin, life_of, read_all, write
from infra.histogram import Spread
from infra.ray.worker import WorkerPool
from infra.run_state import JobState, Rates, RunState, ServerState, ShardCounts, StepState, Waits, WorkerLook
from infra.shards.layout import Layout
from infra.shards.owner import Owner
from infra.shards.plan import Plan, PlannedShard
from infra.shards.ranges import ShardRange

SHARDS = tuple(ShardRange(start, start + 10) for start in range(0, 50, 10))
PLANNED = Plan(
    (
        PlannedShard(SHARDS[0], "committed"),
        *(PlannedShard(shard, "missing") for shard in SHARDS[1:]),
        PlannedShard(ShardRange(50, 60), "held"),
    ),
    SHARDS[1:],
)
NO_BUDGET = Budget(None, 0.0)


def step(calls: int, seconds: float = 1.0) -> StepState:
    spread = Spread(counts=(0, 0, 0, calls, *[0] * 9), total=calls * seconds)
    tokens = Spread(counts=(calls, *[0] * 12), total=calls * 10.0)
    return StepState(step="draft", model="gpt", seconds=spread, answering=spread, prompt=tokens, completion=tokens)


def look(
    process: str,
    jobs: dict[str, dict[str, int]] | None = None,
    finished: dict[str, int] | None = None,
    waits: dict[Waits, int] | None = None,
    calls: int = 0,
) -> WorkerLook:
    return WorkerLook(
        process=process,
        host="here",
        pid=7,
        jobs=tuple(JobState(name=name, counters=counters) for name, counters in (jobs or {}).items()),
        finished=finished or {},
        waits=waits or {},
        oldest_s=1.5,
        servers=(ServerState(server="OpenAI gpt", open=2, waiting=1, width=2, waits_for="a free place"),),
        steps=(step(calls),),
        failures={"gpt": {"http_503": 1}},
    )


class Scripted:
    """A pool of which each look is known beforehand; the last one stays."""

    def __init__(self, *looks: list[WorkerLook | None], done: int = 0, running: int = 0, idle: int = 0) -> None:
        self._looks, self._jobs = list(looks), (done, running, {"worker": idle} if idle else {})
        self.stopping = False

    def looks(self) -> list[WorkerLook | None]:
        return self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]

    def jobs(self) -> tuple[int, int, dict[str, int]]:
        return self._jobs


def as_pool(scripted: Scripted) -> WorkerPool:
    return cast(WorkerPool, scripted)


def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path, "tiny", "records", ("records",))


def observer(tmp_path: Path, pool: Scripted, budget: Budget = NO_BUDGET) -> Observer:
    return Observer(as_pool(pool), layout(tmp_path), PLANNED, 40, budget, "http://127.0.0.1:1/metrics")


def test_rows_of_running_and_of_ended_shards_count_and_those_of_several_workers_add_up(tmp_path: Path) -> None:
    running = {"part-1": {"records": 3, "filtered": 1, "calls": 40}}
    pool = Scripted([look("a", running, {"records": 10}, {"engine": 4}), look("b", None, {"quarantined": 2})])
    state = observer(tmp_path, pool).look()
    assert state.done == {"records": 13, "filtered": 1, "quarantined": 2}
    assert state.finished == 16
    assert (state.dataset, state.stage, state.rows) == ("tiny", "records", 40)
    assert [worker.waits for worker in state.workers] == [{"engine": 4}, {}]
    assert state.workers[0].oldest_s == 1.5
    assert state.servers[0].open == 4
    assert state.failures == {"gpt": {"http_503": 2}}


def test_a_worker_that_is_silent_keeps_its_rows_and_one_that_was_replaced_keeps_its_calls(tmp_path: Path) -> None:
    running = {"part-1": {"records": 3}}
    pool = Scripted([look("a", running, calls=5)], [None], [look("its successor", None, calls=2)])
    watching = observer(tmp_path, pool)
    states = [watching.look() for _ in range(3)]
    assert [state.finished for state in states] == [3, 3, 0]  # the successor begins the shard again
    assert [state.workers[0].answers for state in states] == [True, False, True]
    assert states[1].workers[0].pid == 7
    assert [state.steps[0].seconds.count for state in states] == [5, 5, 7]


def test_shards_that_nobody_has_asked_for_yet_wait_for_a_worker_too(tmp_path: Path) -> None:
    state = observer(tmp_path, Scripted([None], done=1, running=1, idle=1)).look()
    assert state.shards == ShardCounts(committed=2, running=1, waiting=2, held=1)
    assert state.shard_waits == {"worker": 2}
    assert state.shards.total == len(PLANNED.shards)


def test_a_run_whose_pool_was_told_to_stop_is_stopping(tmp_path: Path) -> None:
    pool = Scripted([None])
    watching = observer(tmp_path, pool)
    assert not watching.look().stopping
    pool.stopping = True
    assert watching.look().stopping


def test_when_the_budget_is_spent_the_rest_waits_for_it_and_the_projection_is_of_all_rows(tmp_path: Path) -> None:
    counters = {"part-1": {"records": 10, "microdollars": 500_000}}
    spent = Budget(limit_usd=1.2, before_usd=1.0)
    state = observer(tmp_path, Scripted([look("a", counters)], done=0, running=1, idle=3), spent).look()
    assert state.shard_waits == {"budget": 3}
    assert (state.money.spent_usd, state.money.projected_usd, state.money.limit_usd) == (1.5, 3.0, 1.2)


def test_rates_are_of_the_last_minute_and_a_standstill_is_timed() -> None:
    pace = Pace()
    assert pace.rates(0, (), 0.0) == Rates()
    assert pace.rates(30, (step(60),), 30.0) == Rates(rows=1.0, calls=2.0, prompt_tokens=20.0, completion_tokens=20.0)
    assert pace.still_s(30.0) == 0.0
    later = pace.rates(30, (step(60),), 80.0)  # 50 s after the second mark, the first is forgotten
    assert later == Rates()
    assert pace.still_s(80.0) == 50.0


def test_rows_that_a_failed_shard_takes_along_make_no_negative_rate() -> None:
    pace = Pace()
    pace.rates(30, (), 0.0)
    assert pace.rates(10, (), 10.0).rows == 0.0


def test_a_run_says_how_it_is_and_how_it_ended(tmp_path: Path) -> None:
    place, pool = layout(tmp_path), Scripted([look("a", {"part-1": {"records": 3}})])
    with published(as_pool(pool), place, PLANNED, 40, NO_BUDGET):
        ((path, running),) = read_all(tmp_path / "tiny" / FOLDER)
        assert running.finished == 3
        assert life_of(running, datetime.now(UTC)) == "runs"
        assert b'privasis_rows_wanted{dataset="tiny",stage="records"} 40.0' in fetch(running.metrics_url)
    ended = RunState.model_validate_json(path.read_bytes())
    assert (life_of(ended, datetime.now(UTC)), ended.ended_with) == ("ended", "")
    with pytest.raises(OSError, match="refused"):
        fetch(running.metrics_url)


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return cast(bytes, answer.read())


def test_a_run_that_an_error_ends_leaves_its_name(tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        published(as_pool(Scripted([None])), layout(tmp_path), PLANNED, 40, NO_BUDGET),
    ):
        raise KeyboardInterrupt
    ((_, state),) = read_all(tmp_path / "tiny" / FOLDER)
    assert (state.ended_with, state.ended_at is None) == ("KeyboardInterrupt", False)


DIES = """
import os, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from tests.flows.test_status import Scripted, as_pool, layout, PLANNED, NO_BUDGET
from flows.status import published
with published(as_pool(Scripted([None])), layout(Path(sys.argv[1])), PLANNED, 40, NO_BUDGET):
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def killed(tmp_path: Path) -> RunState:
    """A run that was killed with SIGKILL a moment ago."""
    program = DIES.format(paths=[str(Path(__file__).parents[2])])
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=300)
    ((_, state),) = read_all(tmp_path / "tiny" / FOLDER)
    return state


def test_a_killed_run_is_told_from_one_that_lives_at_once(killed: RunState) -> None:
    assert killed.ended_at is None
    assert life_of(killed, killed.written_at) == "died"


def test_a_run_on_a_machine_that_cannot_be_seen_is_judged_by_its_last_word(tmp_path: Path) -> None:
    elsewhere = Owner.here().model_copy(update={"place": "another machine", "pid": 1})
    state = observer(tmp_path, Scripted([None])).look().model_copy(update={"owner": elsewhere})
    assert life_of(state, state.written_at + timedelta(seconds=29)) == "runs"
    assert life_of(state, state.written_at + timedelta(seconds=31)) == "silent"


def test_a_new_run_clears_away_what_ended_ones_of_its_stage_have_said_and_nothing_else(
    tmp_path: Path, killed: RunState
) -> None:
    here = layout(tmp_path)
    folder = tmp_path / "tiny" / FOLDER
    now = datetime.now(UTC)
    alive = observer(tmp_path, Scripted([None])).look()
    ended = alive.model_copy(update={"ended_at": now})
    for name, state in (
        ("records-20260101T000000-1", alive),
        ("records-20260101T000000-2", ended),
        ("records-too-20260101T000000-3", ended.model_copy(update={"stage": "records-too"})),
    ):
        write(folder / f"{name}.json", state)
    (folder / "records-20260101T000000-4.json").write_text(json.dumps({"version": 2}))
    assert not begin(here, now).exists()
    assert sorted(path.stem[-1] for path, _ in read_all(folder)) == ["1", "3"]


def test_a_file_that_no_run_has_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"version": 2}))
    with pytest.raises(StatusUnreadable, match=r"x\.json: .*delete it"):
        read_all(tmp_path)


def test_a_state_holds_no_more_than_a_page_for_many_workers(tmp_path: Path) -> None:
    looks: list[WorkerLook | None] = [look(str(index), {f"part-{index}": {"records": 3}}) for index in range(64)]
    state = observer(tmp_path, Scripted(looks)).look()
    assert len(state.model_dump_json()) < 16_384
    assert os.getpid() == state.owner.pid
