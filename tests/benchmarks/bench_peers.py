"""One prompt a row: ours beside Data Designer, distilabel and Bespoke Curator, on one server that costs nothing.

``python -m tests.benchmarks.bench_peers`` makes a throwaway environment for each of the others with uv (package index
needed), and measures, half an hour in all. ``--only ours sdk`` leaves them out; ``--environments DIR`` keeps theirs.

The client has one core, the server another (``peers/server.py``). Calls a second are the server's count between the
first call and the last answer; CPU a call is what the tree of processes has used for many rows beyond what it used for
few; memory is the largest sum of the tree's private and shared parts (PSS). A row is good if its text is the whole
right answer. "Repeated" are calls for rows that were asked before, after ``kill -9`` at half and the same command
again.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.peers.server import answer_to

HERE = Path(__file__).parent / "peers"
ROWS, FEW = 2_000, 50
LEVELS = (32, 256, 1_000)  # calls in flight
LATENCY_S = 0.2
FAULTS = 0.05
PATIENCE_S = 900


@dataclass(frozen=True)
class Contestant:
    """A program that asks one prompt a row; ``packages`` is empty for those of our own environment."""

    name: str
    script: str
    packages: tuple[str, ...] = ()
    resumes: bool = True


CONTESTANTS = (
    Contestant("ours", "ours.py"),
    Contestant("sdk", "sdk.py", resumes=False),
    Contestant("curator", "curator.py", ("bespokelabs-curator==0.1.31",)),
    Contestant("data-designer", "designer.py", ("data-designer==0.9.7",)),
    # Killed and started again, it finds its cache and waits for ever.
    Contestant("distilabel", "distilabel_pipeline.py", ("distilabel[openai]==1.5.3", "requests"), resumes=False),
)


@dataclass(frozen=True)
class Server:
    """The server of one measurement."""

    port: int

    def get(self, path: str, timeout_s: float = 10) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}/{path}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=timeout_s) as response:
            found: dict[str, Any] = json.load(response)
            return found


@dataclass(frozen=True)
class Ran:
    """What one run of a contestant came to."""

    good: int
    cpu_s: float
    peak_mb: float
    seen: dict[str, Any]


@contextmanager
def served(faults: float = 0.0) -> Iterator[Server]:
    command = [sys.executable, str(HERE / "server.py"), "--latency", str(LATENCY_S), "--faults", str(faults)]
    with subprocess.Popen(on_core(1, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Server(int(process.stdout.readline()))
        process.stdin.close()


def on_core(place: int, command: Sequence[str]) -> list[str]:
    """Pin a command to a core; where there is but one, both share it."""
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[min(place, len(cores) - 1)]), *command]


class Bench:
    """Runs contestants, each in its own environment."""

    def __init__(self, environments: Path, rows: int) -> None:
        self._environments, self._rows = environments, rows

    def python(self, contestant: Contestant) -> str:
        """Return the interpreter of a contestant; its environment is made where it is missing."""
        if not contestant.packages:
            return sys.executable
        home = self._environments / contestant.name
        python = home / "bin" / "python"
        if not python.exists():
            uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
            subprocess.run(
                [uv, "venv", "-q", "--python", f"{sys.version_info[0]}.{sys.version_info[1]}", home], check=True
            )
            subprocess.run([uv, "pip", "install", "-q", "--python", python, *contestant.packages], check=True)
        return str(python)

    @contextmanager
    def begun(
        self, who: Contestant, server: Server, rows: int, in_flight: int, out: Path
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start a contestant in a process group of its own; nothing of it outlives the block."""
        base_url = f"http://127.0.0.1:{server.port}/v1"
        command = [self.python(who), str(HERE / who.script), base_url, str(rows), str(in_flight), str(out)]
        environment = os.environ | {
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "PYTHONPATH": str(HERE.parents[2]),
        }
        if who.packages:
            environment.pop("PYTHONPATH")
        with open(out / "log.txt", "ab") as log:  # noqa: PTH123
            process = subprocess.Popen(
                on_core(0, command), env=environment, stdout=log, stderr=log, start_new_session=True
            )
            try:
                yield process
            finally:
                end(process)

    def run(self, who: Contestant, in_flight: int, faults: float = 0.0, rows: int = 0) -> Ran:
        """Let a contestant do all rows, or so many, and measure it."""
        rows = rows or self._rows
        with tempfile.TemporaryDirectory() as folder, served(faults) as server:
            out = Path(folder)
            with self.begun(who, server, rows, in_flight, out) as process:
                peak_mb = watch(process)
                cpu_s = cpu_of_ended(process)
            seen = server.get("stats")
            if not seen["calls"]:
                raise RuntimeError(f"{who.name} asked nothing:\n{(out / 'log.txt').read_text()[-2000:]}")
            return Ran(good_rows(out, rows), cpu_s, peak_mb, seen)

    def repeats(self, who: Contestant, in_flight: int) -> tuple[int, int]:
        """Kill a contestant at half, give the same command again; return the repeated calls, and the good rows."""
        with tempfile.TemporaryDirectory() as folder, served() as server:
            out = Path(folder)
            with self.begun(who, server, self._rows, in_flight, out):
                server.get(f"wait/{self._rows // 2}", PATIENCE_S)
            time.sleep(2 * LATENCY_S)  # what was in flight is counted now
            with self.begun(who, server, self._rows, in_flight, out) as process:
                watch(process)
            seen = server.get("stats")
            return seen["calls"] - seen["rows"], good_rows(out, self._rows)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its group, if anything of it is left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


_CPU: dict[int, float] = {}  # of processes that were waited for


def watch(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end of a process, and return the most memory that its tree has had, in MB."""
    peak, until = 0.0, time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            _CPU[pid] = usage.ru_utime + usage.ru_stime
            return peak
        peak = max(peak, sum(map(pss_mb, tree(process.pid))))
        time.sleep(0.2)
    _CPU[process.pid] = float("nan")  # it has not come to an end: what it has left counts
    return peak


def cpu_of_ended(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU seconds of a process that was watched, with those of the children it has waited for."""
    return _CPU[process.pid]


def tree(root: int) -> list[int]:
    """Return a process and all below it."""
    found, left = [], [root]
    while left:
        pid = left.pop()
        found.append(pid)
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                left += map(int, task.read_text().split())
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


def pss_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0.0
    return int(text.partition("Pss:")[2].split()[0]) / 1024 if "Pss:" in text else 0.0


def good_rows(out: Path, rows: int) -> int:
    """Count the rows whose text is the whole right answer."""
    file = out / "answers.jsonl"
    found = dict(json.loads(line) for line in file.read_text().splitlines()) if file.exists() else {}
    return sum(found.get(row) == answer_to(row) for row in range(rows))


def show(bench: Bench, contestants: Sequence[Contestant], levels: Sequence[int]) -> None:
    print("contestant      in flight   calls/s  CPU ms a call  peak MB   good")
    for who in contestants:
        bench.run(who, 32, rows=FEW)  # the first one compiles what it imports
        few = bench.run(who, 32, rows=FEW)
        for level in levels:
            many = bench.run(who, level)
            per_s = many.seen["calls"] / many.seen["seconds"]
            cpu_ms = 1e3 * (many.cpu_s - few.cpu_s) / (many.seen["calls"] - few.seen["calls"])
            print(
                f"{who.name:14} {level:10d} {per_s:9.0f} {cpu_ms:14.2f} {many.peak_mb:8.0f} {many.good:6d}", flush=True
            )
    print("\ncontestant      good rows at 5 % faults, calls   repeated after kill -9 at half, good rows")
    for who in contestants:
        faulty = bench.run(who, 256, FAULTS)
        repeated = "{:,}, {:,}".format(*bench.repeats(who, 256)) if who.resumes else "does not resume"
        print(f"{who.name:14} {faulty.good:10d} {faulty.seen['calls']:10d} {repeated:>40}", flush=True)


def main() -> None:
    """Read the command line and measure."""
    names = [each.name for each in CONTESTANTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--levels", nargs="+", type=int, default=LEVELS)
    parser.add_argument("--environments", type=Path, help="where those of the others are kept; thrown away without it")
    parser.add_argument("--rows", type=int, default=ROWS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as throwaway:
        show(
            Bench(asked.environments or Path(throwaway), asked.rows),
            [each for each in CONTESTANTS if each.name in asked.only],
            asked.levels,
        )


if __name__ == "__main__":
    main()
