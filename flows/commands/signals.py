"""Ctrl-C and SIGTERM around a whole command: what was started is ended, and the exit code says what it was."""

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

FIRST_OF_NOTHING = 128  # a shell's code for a process that a signal has ended is this and the signal's number


@contextmanager
def interruptible() -> Iterator[Callable[[], int | None]]:
    """Let SIGTERM raise, as Ctrl-C does, so that what the block has started is ended in order.

    Yields:
        A function that returns the exit code of the last such signal, or None if none came: one that a flow has
        handled by itself is heard as well.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for end in (ours, theirs):
            end.setblocking(False)
        handler = signal.signal(signal.SIGTERM, _exit)
        # Python writes the number of each signal here, whatever handler there is at that moment.
        wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        try:
            yield lambda: _exit_code(ours)
        finally:
            signal.set_wakeup_fd(wakeup)
            signal.signal(signal.SIGTERM, handler)


def _exit(signum: int, _: FrameType | None) -> None:
    sys.exit(FIRST_OF_NOTHING + signum)


def _exit_code(heard: socket.socket) -> int | None:
    try:
        numbers = heard.recv(4096)
    except BlockingIOError:
        return None
    ending = [number for number in numbers if number in (signal.SIGINT, signal.SIGTERM)]
    return FIRST_OF_NOTHING + ending[-1] if ending else None
