import os
import signal
import subprocess
import sys

import pytest

from flows.commands.signals import interruptible


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_that_somebody_else_handles_is_heard_as_well(signum: int, code: int) -> None:
    with interruptible() as interrupted_code:
        assert interrupted_code() is None
        before = signal.signal(signum, lambda *_: None)
        try:
            os.kill(os.getpid(), signum)
        finally:
            signal.signal(signum, before)
        assert interrupted_code() == code


def test_other_signals_do_not_count() -> None:
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with interruptible() as interrupted_code:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert interrupted_code() is None
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_everything_is_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
    assert signal.set_wakeup_fd(-1) == -1


def test_sigterm_unwinds_what_was_begun_and_ends_with_143() -> None:
    program = (
        "import os, signal\n"
        "from flows.commands.signals import interruptible\n"
        "with interruptible():\n"
        "    try: os.kill(os.getpid(), signal.SIGTERM); signal.pause()\n"
        "    finally: print('put in order', flush=True)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (143, "put in order\n")


@pytest.mark.parametrize(("signum", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize(("name", "says"), [("synthesize", True), ("browse", False)])
def test_a_run_that_is_interrupted_while_it_starts_says_what_is_kept(
    signum: str, code: int, name: str, says: bool
) -> None:
    """What can be gone on with says so; what only looks ends in silence, as it is meant to."""
    program = (
        "import os, signal\n"
        # What runs the tests in the background may have it ignored, and children inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from typer import Typer\n"
        "from flows.commands.group import Commands\n"
        "app = Typer(cls=Commands)\n"
        "@app.callback()\n"
        "def privasis() -> None: ...\n"
        f"@app.command('{name}')\n"
        f"def command() -> None: os.kill(os.getpid(), signal.{signum}); signal.pause()\n"
        f"app(['{name}'])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == code, ended.stderr
    assert ("is kept" in ended.stderr) == says
    assert "Traceback" not in ended.stderr
