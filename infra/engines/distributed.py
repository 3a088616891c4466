"""Starts, watches and stops several processes that compute together, through torch's launcher."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from infra.engines.process import EngineFailed

GRACE_S = 10.0
_LOG_LINES = 20  # of a failed group's log, in the error


class ProcessGroup:
    """Processes that were started together; if one ends by itself, the launcher ends the others.

    Attributes:
        log: file with everything they printed.
    """

    def __init__(self, name: str, launcher: subprocess.Popen[bytes], log: Path) -> None:
        self.log = log
        self._name = name
        self._launcher = launcher

    def is_done(self, within_s: float) -> bool:
        """Wait for up to ``within_s`` seconds, and say whether all have ended well.

        Raises:
            EngineFailed: one has not.
        """
        try:
            status = self._launcher.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        if status:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
            tail = "\n".join(lines[-_LOG_LINES:]) or "(empty)"
            raise EngineFailed(f"{self._name} ended with status {status}; the end of its log {self.log}:\n{tail}")
        return True

    def stop(self) -> None:
        """End all of them. Twice does no harm."""
        assert self._launcher.stdin is not None  # launch_group() opened it
        self._launcher.stdin.close()  # each process watches the other end
        if self._launcher.poll() is None:
            os.killpg(self._launcher.pid, signal.SIGTERM)
            try:
                self._launcher.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                os.killpg(self._launcher.pid, signal.SIGKILL)
                self._launcher.wait()


@contextmanager
def launch_group(
    module: str, arguments: Sequence[str], *, processes: int, log: Path, environment: Mapping[str, str]
) -> Iterator[ProcessGroup]:
    """Call ``main(arguments)`` of ``module`` in several processes of this machine, as long as the context lasts.

    They end with the context, and with this process however that ends. Ctrl-C does not reach them directly: the context
    stops them when the exception passes.

    Args:
        module: name of the module.
        arguments: for its ``main``; anyone on the machine can read them.
        processes: how many.
        log: file for what they print, of this group alone; written anew.
        environment: variables of theirs beside our own.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    scratch = log.parent / f".{log.stem}-launcher"  # beside the log: what kill -9 leaves behind goes with the next call
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    launcher = ["torch.distributed.run", "--standalone", f"--nproc_per_node={processes}", f"--log-dir={scratch}"]
    with log.open("wb") as sink:
        child = subprocess.Popen(
            [sys.executable, "-m", *launcher, "-m", "infra.engines.distributed_child", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=sink,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    group = ProcessGroup(module, child, log)
    try:
        yield group
    finally:
        group.stop()
        shutil.rmtree(scratch)
