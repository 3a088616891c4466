import os
import signal
import subprocess
import sys
import threading

import pytest

from infra.interrupts import interrupts

# Waits in the block until `stop` is done, which takes a second; Popen's pipe tells how far it is.
PROGRAM = """
import sys, threading, time
from infra.interrupts import interrupts
stopped = threading.Event()
def stop():
    print("stopping", flush=True)
    time.sleep(1)
    stopped.set()
with interrupts(stop) as interrupt:
    print("running", flush=True)
    stopped.wait(30)
    print("drained", flush=True)
sys.exit(interrupt.exit_code)
"""


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_drains(signum: int, code: int) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"running\n"
        program.send_signal(signum)
        out, err = program.communicate(timeout=30)
    assert out == b"stopping\ndrained\n"
    assert b"Once more aborts" in err
    assert b"Traceback" not in err
    assert program.returncode == code


@pytest.mark.parametrize(("second", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_second_signal_aborts(second: int, code: int) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"running\n"
        program.send_signal(signal.SIGINT)
        assert program.stdout.readline() == b"stopping\n"
        program.send_signal(second)
        assert program.communicate(timeout=30)[0] == b""
    assert program.returncode == code


def test_without_a_signal_nothing_is_stopped_and_the_handlers_are_as_before() -> None:
    calls: list[str] = []
    before = [signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)]
    with interrupts(lambda: calls.append("stop")) as interrupt:
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert [signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)] == before
    assert calls == []
    assert interrupt.exit_code == 0


def test_what_stop_raises_is_not_lost() -> None:
    def stop() -> None:
        raise OSError("no connection to the workers")

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(OSError, match="no connection"), interrupts(stop) as interrupt:
        os.kill(os.getpid(), signal.SIGTERM)
    assert interrupt.exit_code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_error_in_the_block_passes() -> None:
    with pytest.raises(ZeroDivisionError), interrupts(lambda: None):
        raise ZeroDivisionError


def test_in_another_thread_the_block_runs_without_handlers() -> None:
    seen: list[object] = []
    before = signal.getsignal(signal.SIGTERM)

    def work() -> None:
        with interrupts(lambda: None):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
