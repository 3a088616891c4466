"""A server that has imported all that training needs, and forks: a run starts in a second instead of fifteen.

It reads lines of JSON (folder, rank, port) and answers with a process id; it ends with its input.
"""

import json
import os
import signal
import sys
import traceback
from pathlib import Path

PROCESSES = 2


def exit_file(folder: Path, rank: int) -> Path:
    """Where a process writes its exit code; one that was killed does not."""
    return folder / f"exit-{rank}"


def serve() -> None:
    import torch

    import tasks.training.cleaner.train  # noqa: F401 - that is what takes long

    torch.set_num_threads(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: no zombies
    for line in sys.stdin:
        folder, rank, port = json.loads(line)
        if (pid := os.fork()) == 0:
            _train(Path(folder), rank, port)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _train(folder: Path, rank: int, port: int) -> None:
    from tasks.training.cleaner.train import main

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    out = os.open(folder / "out.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(out, stream)
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": PROCESSES, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in place.items()})
    code = 1
    try:
        main([str(folder)])
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it was, the forked process must not become a second server
        traceback.print_exc()
    finally:
        exit_file(folder, rank).write_text(str(code))
        os._exit(code)


if __name__ == "__main__":
    serve()
