"""The other end of ``infra.engines.process``: what a launched module does to be watched."""

import json
import os
import sys
import threading
from collections.abc import Callable


class Parent:
    """The process that launched this one.

    Made first thing in ``main``: takes standard output for the report, points everything printed later to standard
    error (the log file), and ends this process when the parent is gone. The parent holds the other end of standard
    input and never writes to it, so that its end, even by ``kill -9``, reads as end of file here. That works on every
    system; the parent-death signal of Linux fires already when the *thread* that launched us ends.

    Args:
        before_end: called when the parent is gone, before this process ends; for children of its own.
    """

    def __init__(self, before_end: Callable[[], None] = lambda: None) -> None:
        self._before_end = before_end
        self._report = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        threading.Thread(target=self._end_with_input, name="parent-watch", daemon=True).start()

    def ready(self, **facts: str | int) -> None:
        """Tell the parent that the server answers, and what it needs to know (``port``)."""
        self._report.write(json.dumps(facts) + "\n")
        self._report.close()

    def _end_with_input(self) -> None:
        while os.read(0, 1024):
            pass
        print("the parent process is gone", file=sys.stderr, flush=True)  # noqa: T201 - into the log
        self._before_end()
        os._exit(1)
