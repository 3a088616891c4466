"""Real processes, and a clock that the test turns."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from infra.stack.parts import Part
from infra.stack.state import ProcessId
from infra.stack.watched import READY_WITHIN_S, Watched

SLEEPS = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def started() -> Iterator[list[Watched]]:
    watched: list[Watched] = []
    yield watched
    for each in watched:
        each.stop()


def watch(folder: Path, clock: Clock, code: str, *, ready: bool = True, grace_s: float = 5) -> Watched:
    command = (sys.executable, "-c", code)
    part = Part(
        name="part",
        address="nowhere",
        command=command,
        environment=os.environ,
        folder=folder,
        log=folder / "part.log",
        is_ready=lambda _: ready,
        grace_s=grace_s,
        tries=2,
    )
    return Watched(part, clock)


def look_until_new(watched: Watched) -> None:
    end = time.monotonic() + 20
    while not watched.look():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_killed_part_is_due_again_after_waits_that_double(
    tmp_path: Path, clock: Clock, started: list[Watched]
) -> None:
    watched = watch(tmp_path, clock, SLEEPS)
    started.append(watched)
    waits = []
    for _ in range(3):
        watched.start()
        look_until_new(watched)
        assert watched.is_ready
        assert watched.pid is not None
        os.kill(watched.pid, signal.SIGKILL)
        look_until_new(watched)
        assert (watched.is_up, watched.is_ready, watched.ended) == (False, False, "signal 9")
        begun = clock.now
        while not watched.is_due:
            clock.now += 0.5
        waits.append(clock.now - begun)
    assert waits == [1, 2, 4]
    watched.start()
    assert watched.state().restarts == 3


def test_who_lived_long_is_started_again_soon(tmp_path: Path, clock: Clock, started: list[Watched]) -> None:
    watched = watch(tmp_path, clock, "raise SystemExit(4)", ready=False)
    started.append(watched)
    for _ in range(2):
        watched.start()
        look_until_new(watched)
        clock.now += 100
    watched.start()
    clock.now += 61
    look_until_new(watched)
    assert watched.ended == "exit status 4"
    clock.now += 1
    assert watched.is_due


def test_a_part_that_never_came_up_is_given_up_after_its_tries(
    tmp_path: Path, clock: Clock, started: list[Watched]
) -> None:
    watched = watch(tmp_path, clock, "raise SystemExit(1)", ready=False)
    started.append(watched)
    hopeless = []
    for _ in range(2):
        watched.start()
        look_until_new(watched)
        hopeless.append(watched.is_hopeless)
    assert hopeless == [False, True]


def test_a_part_that_does_not_get_ready_is_ended(tmp_path: Path, clock: Clock, started: list[Watched]) -> None:
    watched = watch(tmp_path, clock, SLEEPS, ready=False)
    started.append(watched)
    watched.start()
    process = watched.state().process
    assert process is not None
    assert not watched.look()
    clock.now += READY_WITHIN_S + 1
    assert watched.look()
    assert process.find() is None
    assert watched.ended == "not ready within 300 s"


def test_a_part_that_ignores_the_signal_and_its_children_are_ended(tmp_path: Path, clock: Clock) -> None:
    watched = watch(tmp_path, clock, f"import subprocess; subprocess.Popen(['sleep', '60']); {STUBBORN}", grace_s=0.2)
    watched.start()
    end = time.monotonic() + 20
    while "up" not in (tmp_path / "part.log").read_text():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert watched.pid is not None
    below = psutil.Process(watched.pid).children()
    watched.stop()
    watched.stop()
    assert len(below) == 1
    assert not below[0].is_running()
    assert not watched.is_up


def test_a_later_process_of_the_same_number_is_a_stranger() -> None:
    me = ProcessId.of(psutil.Process())
    assert me.find() is not None
    assert me.model_copy(update={"started": me.started - 3600}).find() is None
