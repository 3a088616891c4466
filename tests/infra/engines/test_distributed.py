import multiprocessing
import os
import signal
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from infra.engines.distributed import ProcessGroup, launch_group
from infra.engines.process import EngineFailed
from tests.infra.engines.test_process import _ends, _runs

MEMBER = "tests.infra.engines.member"


def launched(mode: str, folder: Path) -> AbstractContextManager[ProcessGroup]:
    return launch_group(
        MEMBER, [mode, str(folder)], processes=2, log=folder / "log.txt", environment={"COLOUR": "green"}
    )


def pids(folder: Path) -> list[int]:
    """Wait for both to be there."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        files = sorted(folder.glob("pid-*"))
        if len(files) == 2 and all(file.read_text() for file in files):
            return [int(file.read_text()) for file in files]
        time.sleep(0.05)
    raise AssertionError((folder / "log.txt").read_text())


def test_a_group_that_has_done_its_work_is_done(tmp_path: Path) -> None:
    with launched("end", tmp_path) as group:
        assert group.is_done(240)
    log = (tmp_path / "log.txt").read_text()
    assert {"member 0 of 2, green", "member 1 of 2, green"} <= set(log.splitlines())
    assert not [path.name for path in tmp_path.iterdir() if path.is_dir()]


def test_where_one_fails_the_others_are_ended_and_the_log_is_told(tmp_path: Path) -> None:
    with launched("fail", tmp_path) as group:
        with pytest.raises(
            EngineFailed, match=r"(?s)tests\.infra\.engines\.member ended with status 1.*log\.txt.*out of luck"
        ):
            assert not group.is_done(240)
        assert all(_ends(pid) for pid in pids(tmp_path))


def test_a_group_ends_with_its_context(tmp_path: Path) -> None:
    with launched("stay", tmp_path) as group:
        members = pids(tmp_path)
        assert not group.is_done(0)
        assert all(_runs(pid) for pid in members)
    assert all(_ends(pid) for pid in members)


def _hold(folder: Path) -> None:
    tempfile.tempdir = str(folder / "temporary")
    (folder / "temporary").mkdir()
    with launched("stay", folder):
        time.sleep(300)


def test_a_group_ends_with_whoever_started_it_even_by_kill_9(tmp_path: Path) -> None:
    starter = multiprocessing.get_context("spawn").Process(target=_hold, args=(tmp_path,))
    starter.start()
    try:
        members = pids(tmp_path)
        assert all(_runs(pid) for pid in members)
    finally:
        os.kill(starter.pid, signal.SIGKILL)
        starter.join()
    assert all(_ends(pid) for pid in members)
    assert not any((tmp_path / "temporary").glob("privasis-*"))  # nothing stays where nobody looks
