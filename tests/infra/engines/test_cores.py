from pathlib import Path

import pytest

from infra.engines.cores import usable_cores


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Four cores of two threads each: CPUs 0 and 4 are one core, 1 and 5 the next."""
    for cpu in range(8):
        folder = tmp_path / f"devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    (tmp_path / "fs/cgroup").mkdir(parents=True)
    return tmp_path


def test_two_threads_of_a_core_count_once(sysfs: Path) -> None:
    assert usable_cores(range(8), sysfs) == 4


def test_only_the_cpus_we_may_use_count(sysfs: Path) -> None:
    assert usable_cores([0, 4, 1], sysfs) == 2


@pytest.mark.parametrize(
    ("quota", "cores"), [("200000 100000", 2), ("150000 100000", 2), ("5000 100000", 1), ("max", 4)]
)
def test_a_containers_quota_counts(sysfs: Path, quota: str, cores: int) -> None:
    (sysfs / "fs/cgroup/cpu.max").write_text(f"{quota}\n")
    assert usable_cores(range(8), sysfs) == cores


def test_without_a_description_every_cpu_is_a_core(tmp_path: Path) -> None:
    assert usable_cores(range(3), tmp_path) == 3


def test_this_machine_has_at_least_one() -> None:
    assert usable_cores() >= 1
