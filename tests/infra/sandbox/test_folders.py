"""Folders of sandboxes: gone with their block, and after a kill with the next start; never under somebody's hands."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from infra.sandbox.folders import PREFIX, SETTLED_S, clear_left, own_folder

T = TypeVar("T")
HOLDS = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from infra.sandbox.folders import own_folder
with own_folder() as folder:
    print(folder, flush=True)
    time.sleep(60)
"""

RUNS = """
from infra.sandbox.run import Limits, run_python
run_python("import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)", Limits(wall_s=60))
"""


def aged(folder: Path) -> Path:
    then = time.time() - 2 * SETTLED_S
    os.utime(folder, (then, then))
    return folder


def test_a_folder_goes_with_its_block() -> None:
    with own_folder() as folder:
        (folder / "file").write_text("x", encoding="utf-8")
    assert not folder.exists()


def test_what_a_killed_process_has_left_is_cleared_and_what_a_live_one_uses_is_not(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        folder = aged(Path(holder.stdout.readline().strip()))
        assert clear_left(tmp_path) == []
        assert folder.is_dir()
        holder.kill()
    assert clear_left(tmp_path) == [folder]
    assert not folder.exists()


def test_a_program_ends_with_whoever_would_have_ended_it(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", RUNS], env=environment) as runner:
        program = waited_for(lambda: next((path.read_text() for path in tmp_path.rglob("pid")), ""))
        runner.kill()
    assert waited_for(lambda: has_ended(int(program)))


def waited_for(found: Callable[[], T]) -> T:
    until = time.monotonic() + 60
    while not (value := found()):
        assert time.monotonic() < until
        time.sleep(0.05)
    return value


def has_ended(pid: int) -> bool:
    """A zombie has ended, too: in a container nobody may fetch it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_young_folders_files_links_and_other_names_are_let_be(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}young").mkdir()
    (tmp_path / "else").mkdir()
    (tmp_path / f"{PREFIX}file").write_text("x", encoding="utf-8")
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "else")
    for name in ("else", f"{PREFIX}file"):
        aged(tmp_path / name)
    os.utime(tmp_path / f"{PREFIX}link", (0, 0), follow_symlinks=False)
    assert clear_left(tmp_path) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "else",
        *(f"{PREFIX}{each}" for each in ("file", "link", "young")),
    ]
