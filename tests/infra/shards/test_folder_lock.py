import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from infra.shards.folder_lock import FolderTaken, folder_locked


def _hold(folder: Path) -> None:
    with folder_locked(folder):
        (folder / "held").touch()
        time.sleep(60)


def test_a_folder_has_one_process_at_a_time_and_is_free_after_kill_9(tmp_path: Path) -> None:
    holder = multiprocessing.get_context("spawn").Process(target=_hold, args=(tmp_path / "in",))
    holder.start()
    try:
        while not (tmp_path / "in/held").exists():
            time.sleep(0.01)
        with pytest.raises(FolderTaken, match="in: another process is at work in it"), folder_locked(tmp_path / "in"):
            pass
    finally:
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
    with folder_locked(tmp_path / "in", wait=True):  # waits until the dead process is gone
        holder.join()
