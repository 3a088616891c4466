"""Ctrl-C and SIGTERM: the first drains, the second aborts."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Interrupt:
    """What has come so far; ``signum`` is None until a signal does."""

    signum: int | None = None

    @property
    def exit_code(self) -> int:
        """What a shell expects of the process: 130 after Ctrl-C, 143 after SIGTERM, else 0."""
        return 0 if self.signum is None else 128 + self.signum


@contextmanager
def interrupts(stop: Callable[[], None]) -> Iterator[Interrupt]:
    """Let SIGINT and SIGTERM stop the block in order: they raise nothing in it.

    The first signal calls ``stop`` in a thread, once; the block is expected to end soon after, e.g. because the jobs it
    waits for end. The second ends the process at once, with the exit code and without any clean-up: what was started
    has to notice by itself that its parent is gone. In a thread other than the main one, where Python delivers no
    signals, the block simply runs.

    Raises:
        Exception: what ``stop`` raised, when the block has ended.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    # A handler may run in the middle of anything, locks of `threading` included: all that it does is to write a byte.
    heard, tell = os.pipe()

    def handle(signum: int, _: FrameType | None) -> None:
        if interrupt.signum is not None:
            os._exit(128 + signum)
        interrupt.signum = signum
        os.write(tell, b"!")

    def wait_and_stop() -> None:
        if os.read(heard, 1):
            logger.warning("Stopping: nothing new is started, what is in flight may end. Once more aborts at once.")
            stop()

    with ThreadPoolExecutor(1, thread_name_prefix="interrupts") as thread:
        stopping = thread.submit(wait_and_stop)
        before = [(signum, signal.signal(signum, handle)) for signum in SIGNALS]
        try:
            yield interrupt
        finally:
            os.close(tell)
            try:
                stopping.result()
            finally:
                os.close(heard)
                for signum, handler in before:
                    signal.signal(signum, handler)
