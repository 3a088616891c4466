import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from infra.shards.lease import Lease, LeaseCorrupt, LeaseHeld, LeaseLost, acquire, current, live
from infra.shards.owner import Owner
from infra.shards.ranges import ShardRange

SHARD = ShardRange(0, 10)
ELSEWHERE = Owner(host="elsewhere", place="another kernel", pid=os.getpid(), started="1")
ROOT = Path(__file__).parents[3]


def take(folder: Path, shard: ShardRange = SHARD, *, ttl_s: float = 60, owner: Owner | None = None) -> Lease:
    return acquire(folder, shard, ttl_s=ttl_s, owner=owner)


def test_a_held_lease_says_by_whom_and_until_when(tmp_path: Path) -> None:
    lease = take(tmp_path)
    until = current(tmp_path, SHARD)
    assert until is not None
    with pytest.raises(
        LeaseHeld, match=rf"part-00000000-00000010: held by process {os.getpid()} on .+ until 20"
    ) as held:
        take(tmp_path)
    assert until.until.isoformat(timespec="seconds") in str(held.value)
    assert 55 < (until.until - datetime.now(UTC)).total_seconds() <= 60
    lease.release()


def test_the_token_rises_with_every_acquisition(tmp_path: Path) -> None:
    tokens = []
    for _ in range(3):
        with take(tmp_path) as lease:
            lease.renew()
            tokens.append(lease.token)
    assert tokens == [1, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000000-00000010.3.json"]


def test_a_lease_of_another_host_is_broken_after_its_time_and_not_before(tmp_path: Path) -> None:
    lost = take(tmp_path, ttl_s=0.3, owner=ELSEWHERE)
    with pytest.raises(LeaseHeld, match="elsewhere"):
        take(tmp_path)
    time.sleep(0.31)
    with take(tmp_path) as lease:
        assert lease.token == 2
        for use in (lost.check, lost.renew):
            with pytest.raises(LeaseLost, match="lease 1 is lost, 2 is in force"):
                use()
        lost.release()
        lease.check()


def test_a_renewed_lease_outlives_its_first_term(tmp_path: Path) -> None:
    lease = take(tmp_path, ttl_s=0.4, owner=ELSEWHERE)
    for _ in range(3):
        time.sleep(0.2)
        lease.renew()
    with pytest.raises(LeaseHeld):
        take(tmp_path)


def test_a_process_that_no_longer_renews_loses_its_lease_although_it_lives(tmp_path: Path) -> None:
    take(tmp_path, ttl_s=0.05)
    time.sleep(0.06)
    assert take(tmp_path).token == 2


def test_the_lease_of_a_killed_process_is_broken_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from infra.shards.lease import acquire;"
        "from infra.shards.ranges import ShardRange;"
        "acquire(Path(sys.argv[1]), ShardRange(0, 10), ttl_s=3600); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, tmp_path], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(LeaseHeld, match=str(process.pid)):
            take(tmp_path)
        process.kill()
        deadline = time.monotonic() + 10
        state = current(tmp_path, SHARD)
        assert state is not None
        while not state.owner.is_dead():  # as a zombie: this test has not yet asked for its exit status
            assert time.monotonic() < deadline
        assert take(tmp_path).token == 2
    assert state.owner.is_dead()


def test_a_process_that_inherited_the_number_of_a_dead_one_is_not_taken_for_it() -> None:
    here = Owner.here()
    assert not here.is_dead()
    assert here.model_copy(update={"started": "1"}).is_dead()
    assert not ELSEWHERE.is_dead()  # nothing is known of another host
    assert not here.model_copy(update={"place": "", "started": "1"}).is_dead()


def test_shards_with_rows_in_common_are_not_worked_on_at_once(tmp_path: Path) -> None:
    with take(tmp_path, ShardRange(0, 512)), take(tmp_path, ShardRange(512, 600)):
        with pytest.raises(LeaseHeld, match="part-00000000-00000512"):
            take(tmp_path, ShardRange(256, 512))
        assert list(live(tmp_path, overlapping=ShardRange(100, 513))) == [ShardRange(0, 512), ShardRange(512, 600)]
        assert list(live(tmp_path, overlapping=ShardRange(0, 512), but=[ShardRange(0, 512)])) == []
    assert take(tmp_path, ShardRange(256, 512)).token == 2  # the refused one counted


def test_a_heartbeat_after_the_release_does_not_bring_the_lease_back(tmp_path: Path) -> None:
    lease = take(tmp_path)
    lease.release()
    with pytest.raises(LeaseLost):
        lease.renew()
    assert live(tmp_path, overlapping=SHARD) == {}
    lease.release()


def test_a_slow_worker_does_not_get_an_old_token(tmp_path: Path) -> None:
    """What a worker sees that looked before two others came and went: its token is free, and too low."""
    for _ in range(3):
        take(tmp_path).release()
    old = Lease(tmp_path, current(tmp_path, SHARD).model_copy(update={"token": 1, "released": False}))  # type: ignore[union-attr]
    with pytest.raises(LeaseLost, match="lease 1 is lost, 3 is in force"):
        old.renew()
    assert take(tmp_path).token == 4


def test_a_lease_that_cannot_be_read_says_which(tmp_path: Path) -> None:
    take(tmp_path)
    (tmp_path / "part-00000000-00000010.1.json").write_text("")
    with pytest.raises(LeaseCorrupt, match=r"part-00000000-00000010\.1\.json: .*delete it"):
        take(tmp_path)
