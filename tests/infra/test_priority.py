import subprocess
import sys

CHILD = (
    "from infra.priority import give_way; import os; give_way(); give_way(); print(os.getpriority(os.PRIO_PROCESS, 0))"
)


def test_a_process_gives_way_once_and_never_takes_priority_back() -> None:
    asked = {0: "10", 15: "15"}
    for nice, found in asked.items():
        run = subprocess.run(
            ["nice", "-n", str(nice), sys.executable, "-c", CHILD], capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == found
