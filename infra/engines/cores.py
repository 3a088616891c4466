"""How many threads a compute-bound engine should run."""

import math
import os
from collections.abc import Iterable
from pathlib import Path


def usable_cores(allowed: Iterable[int] | None = None, sysfs: Path = Path("/sys")) -> int:
    """Count the physical cores that this process may use, at least one.

    The threads of one core count once: llama.cpp's threads wait for each other after each operation, so that a second
    one on the same core only slows both down. A container's CPU quota counts too, for the same reason.

    Args:
        allowed: numbers of the CPUs we may run on; none asks the system.
        sysfs: where the kernel describes CPUs and quotas. Without it (macOS) every CPU counts as a core.
    """
    cpus = _allowed() if allowed is None else set(allowed)
    topology = sysfs / "devices/system/cpu"
    cores = {_read(topology / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in cpus}
    quota, _, period = _read(sysfs / "fs/cgroup/cpu.max").partition(" ")
    limit = math.ceil(int(quota) / int(period)) if quota.isdecimal() else len(cores)
    return max(1, min(len(cores), limit))


def _allowed() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    return set(range(os.cpu_count() or 1))


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii").strip() if path.is_file() else ""
