"""Runs a Python program that nobody vouches for: code that a model wrote, or a benchmark's.

The program has a folder of its own, which goes with it, and reads besides only the interpreter and its packages. It
has no network, starts no processes, and ends at its limits. This keeps mistakes and careless code from doing harm; it
shares the kernel with everything else, so code of somebody who means harm belongs in a virtual machine.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from infra.sandbox import confine
from infra.sandbox.folders import own_folder

_CONFINE = Path(confine.__file__)
_KEPT_BYTES = 64 * 1024  # of each output, from its end, where the error is


class SandboxUnavailable(RuntimeError):
    """This system cannot confine a program; running it all the same is not an option."""


class Limits(BaseModel):
    """What a program may use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wall_s: float = Field(default=20.0, gt=0, description="seconds until the program is ended (SM B.3: 20 or 90)")
    cpu_s: int = Field(default=20, ge=1, description="seconds of processor time")
    memory_bytes: int = Field(default=1 << 30, ge=1 << 26, description="address space")
    file_bytes: int = Field(default=1 << 24, ge=1 << 12, description="size of any file it writes, its output too")


@dataclass(frozen=True)
class Outcome:
    """How a program ended.

    Attributes:
        kind: ``passed`` ended with status 0, ``failed`` with another, ``timeout`` at a limit of time, ``killed`` by a
            signal.
        status: exit status, or the negative number of the signal.
        stdout: the last 64 KiB of its output.
        stderr: the same of its errors.
        seconds: wall time.
    """

    kind: Literal["passed", "failed", "timeout", "killed"]
    status: int
    stdout: str
    stderr: str
    seconds: float


def run_python(source: str, limits: Limits) -> Outcome:
    """Run a program to its end or its limits, as ``__main__`` in an empty folder of its own.

    Hashes of strings are the same in each run, so that two runs of one program print the same.

    Raises:
        SandboxUnavailable: not Linux, or a kernel without what confinement needs.
    """
    if sys.platform != "linux":
        raise SandboxUnavailable(f"programs are confined on Linux only, this is {sys.platform}: use a Linux container")
    with own_folder() as outer:
        work = outer / "work"
        work.mkdir()
        program = work / "program.py"
        program.write_bytes(source.encode("utf-8", "surrogatepass"))  # byte for byte: no line end is changed
        outputs = outer / "stdout", outer / "stderr"  # outside the reach of the program
        started = time.monotonic()
        status, timed_out = _run(work, program, limits, outputs)
        seconds = time.monotonic() - started
        stdout, stderr = (_tail(path) for path in outputs)
    if status == confine.CANNOT_CONFINE:
        raise SandboxUnavailable(
            f"this system cannot confine a program: {stderr.strip()}. It takes Linux 5.13 or later with Landlock and"
            " seccomp, also inside a container: run it on such a host"
        )
    return Outcome(_kind(status, timed_out), status, stdout, stderr, seconds)


def _run(work: Path, program: Path, limits: Limits, outputs: tuple[Path, Path]) -> tuple[int, bool]:
    command = [sys.executable, "-I", "-S", "-B", str(_CONFINE), str(work), str(program)]
    command += [str(limits.cpu_s), str(limits.memory_bytes), str(limits.file_bytes)]
    environment = {"HOME": str(work), "TMPDIR": str(work), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
    stdout, stderr = outputs
    with stdout.open("wb") as out, stderr.open("wb") as err:
        process = subprocess.Popen(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        try:
            return process.wait(limits.wall_s), False
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL, True
        finally:  # interrupted or not, nothing goes on running
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _kind(status: int, timed_out: bool) -> Literal["passed", "failed", "timeout", "killed"]:
    if timed_out or status == -signal.SIGXCPU:
        return "timeout"
    if status < 0:
        return "killed"
    return "passed" if status == 0 else "failed"


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _KEPT_BYTES))
        return file.read().decode("utf-8", "replace")
