import os
import subprocess
import sys

CHILD = (
    "from infra.priority import give_way; import os; give_way(); give_way(); print(os.getpriority(os.PRIO_PROCESS, 0))"
)


def test_a_process_gives_way_once_and_never_takes_priority_back() -> None:
    here = os.getpriority(os.PRIO_PROCESS, 0)  # of the tests' own process, which may have given way already
    for nice in (0, 15):
        run = subprocess.run(
            ["nice", "-n", str(nice), sys.executable, "-c", CHILD], capture_output=True, text=True, check=True
        )
        assert int(run.stdout) == max(10, min(19, here + nice))
