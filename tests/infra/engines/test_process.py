import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from infra.engines.process import EngineFailed, launch

SLEEPER = "tests.infra.engines.sleeper"


def _runs(pid: int) -> bool:
    """A process that has ended but was not waited for (state Z) does not run."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self").exists():
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def _ends(pid: int, within_s: float = 10) -> bool:
    deadline = time.monotonic() + within_s
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not _runs(pid)


def test_a_child_reports_runs_and_ends_with_its_context(tmp_path: Path) -> None:
    with launch(SLEEPER, ["serve"], log=tmp_path / "logs" / "child.log", ready_within_s=20) as child:
        assert child.facts == {"port": 4242}
        assert os.getpgid(child.pid) == child.pid != os.getpgid(0)
        child.check()
        assert _runs(child.pid)
    assert not _runs(child.pid)
    assert set(child.log.read_text().splitlines()) == {"stderr goes to the log", "stdout goes to the log"}


def test_a_child_that_fails_at_start_is_an_error_with_its_log(tmp_path: Path) -> None:
    with (
        pytest.raises(EngineFailed, match=r"(?s)exit status 3.*child\.log.*stdout goes to the log"),
        launch(SLEEPER, ["fail"], log=tmp_path / "child.log", ready_within_s=20),
    ):
        pytest.fail("it never was ready")


def test_a_child_that_is_never_ready_is_given_up_and_ended(tmp_path: Path) -> None:
    started = time.monotonic()
    with (
        pytest.raises(EngineFailed, match=r"was not ready within 0\.5 s"),
        launch(SLEEPER, ["silent"], log=tmp_path / "child.log", ready_within_s=0.5),
    ):
        pytest.fail("it never was ready")
    assert time.monotonic() - started < 10


def test_a_child_that_ends_by_itself_is_noticed(tmp_path: Path) -> None:
    with launch(SLEEPER, ["fail_later"], log=tmp_path / "child.log", ready_within_s=20) as child:
        assert _ends(child.pid)
        with pytest.raises(EngineFailed, match=r"ended by itself \(exit status 4\)"):
            child.check()


def test_a_killed_child_is_named_by_its_signal(tmp_path: Path) -> None:
    with launch(SLEEPER, ["serve"], log=tmp_path / "child.log", ready_within_s=20) as child:
        os.kill(child.pid, signal.SIGKILL)
        assert _ends(child.pid)
        with pytest.raises(EngineFailed, match="SIGKILL"):
            child.check()


def test_a_child_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    with launch(SLEEPER, ["stubborn"], log=tmp_path / "child.log", ready_within_s=20, grace_s=0.2) as child:
        pass
    assert not _runs(child.pid)


def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """No handler of the parent runs at ``kill -9``."""
    code = (
        "import sys, time; from pathlib import Path; from infra.engines.process import launch\n"
        f"with launch({SLEEPER!r}, ['serve'], log=Path(sys.argv[1]), ready_within_s=20) as child:\n"
        "    print(child.pid, flush=True); time.sleep(60)"
    )
    log = tmp_path / "child.log"
    with subprocess.Popen([sys.executable, "-c", code, str(log)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert _runs(pid)
        parent.kill()
    assert _ends(pid)
    assert "the parent process is gone" in log.read_text()
