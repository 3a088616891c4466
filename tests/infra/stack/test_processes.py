import os
import subprocess
import sys
import time

import psutil
import pytest

from infra.stack.processes import MARK, environment_of, marked

GRANDCHILD = "import subprocess; subprocess.Popen(['sleep', '60'])"
ADOPTS = f"""
import subprocess, sys, time
from infra.stack.processes import adopt_orphans, end, orphans
adopt_orphans()
subprocess.run([sys.executable, '-c', {GRANDCHILD!r}], check=True)
part = subprocess.Popen(['sleep', '61'])
found = orphans({{part.pid}})
print([each.cmdline() for each in found])
end(found, 2)
print(orphans({{part.pid}}))
part.kill()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt the orphans below it")
def test_what_a_dead_part_leaves_is_adopted_found_and_ended() -> None:
    told = subprocess.run([sys.executable, "-c", ADOPTS], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["[['sleep', '60']]", "[]"]


def test_only_what_carries_the_mark_is_ours() -> None:
    sleepers = [subprocess.Popen(["sleep", "60"], env=os.environ | {MARK: mark}) for mark in ("ours", "theirs")]
    try:
        end = time.monotonic() + 10
        while any(environment_of(psutil.Process(each.pid)).get(MARK) is None for each in sleepers):
            assert time.monotonic() < end  # between fork and exec it has our environment
        assert [each.pid for each in marked("ours")] == [sleepers[0].pid]
    finally:
        for each in sleepers:
            each.kill()
            each.wait()
