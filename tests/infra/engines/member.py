"""One of a group for the tests of ``infra.engines.distributed``: does what its first argument says."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str]) -> None:
    mode, folder = arguments[0], Path(arguments[1])
    rank, world = os.environ["RANK"], os.environ["WORLD_SIZE"]
    sys.stderr.write(f"member {rank} of {world}, {os.environ['COLOUR']}\n")
    (folder / f"pid-{rank}").write_text(str(os.getpid()))
    if mode == "fail" and rank == "1":
        while not (folder / "pid-0").exists():  # else the other is ended before it has said who it is
            time.sleep(0.05)
        raise RuntimeError("out of luck")
    if mode != "end":
        time.sleep(300)
