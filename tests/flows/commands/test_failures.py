import pytest
from prefect import flow, task
from prefect.task_runners import ThreadPoolTaskRunner

from flows.commands.errors import Code
from flows.commands.failures import Failures
from infra.llm.types import BackendUnavailable
from infra.ray.worker import JobStopped
from infra.shards.frames import JournalCorrupt
from infra.shards.lease import LeaseHeld

ERRORS = {
    "part-0": BackendUnavailable("local: HTTP 503"),
    "part-1": BackendUnavailable("local: HTTP 503"),
    "part-2": LeaseHeld("part-2: held by another until noon"),
    "part-3": JobStopped("part-3: not started, the run is stopping"),
}


@pytest.mark.usefixtures("prefect_server")
def test_prefect_hands_over_the_error_of_every_shard() -> None:
    failures = Failures()

    @task(task_run_name="{shard}", on_failure=[failures.note])
    def make(shard: str) -> str:
        if shard in ERRORS:
            raise ERRORS[shard]
        return shard

    @flow(task_runner=ThreadPoolTaskRunner(max_workers=2))
    def make_all() -> None:
        make.map([*ERRORS, "part-4"]).result()

    with pytest.raises(BackendUnavailable):
        make_all()
    assert failures.errors == ERRORS


def test_every_reason_is_told_once_with_its_count() -> None:
    told = Failures(dict(ERRORS)).told(6)
    assert told is not None
    assert str(told).splitlines()[:3] == [
        "3 of 6 shards failed, 1 stopped because of that:",
        "  2 x local: HTTP 503",
        "  1 x held by another until noon",
    ]
    assert told.code is Code.OUTSIDE


def test_a_run_that_was_stopped_has_not_failed() -> None:
    told = Failures({"part-0": JobStopped("part-0: stopped after 3 of 8 records")}).told(1)
    assert told is not None
    assert str(told).startswith("stopped, with 1 of 1 shard unfinished. What is done is kept")


def test_damage_weighs_more_than_an_absence() -> None:
    told = Failures({"a": BackendUnavailable("m: gone"), "b": JournalCorrupt("b.journal: bad checksum")}).told(2)
    assert told is not None
    assert told.code is Code.DAMAGE


def test_a_bug_is_not_told_away() -> None:
    assert Failures({"a": BackendUnavailable("m: gone"), "b": ZeroDivisionError("a bug")}).told(2) is None


def test_an_error_before_any_shard_stands_for_itself() -> None:
    assert Failures().told(3) is None
