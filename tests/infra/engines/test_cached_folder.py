import multiprocessing
import os
import time
from pathlib import Path

import pytest

from infra.engines.cached_folder import made_once


def write(folder: Path) -> None:
    folder.mkdir()
    (folder / "weights").write_bytes(b"12345678")
    (folder / "config").write_text("{}")


def never(folder: Path) -> None:
    raise AssertionError(f"{folder} is made again")


def write_slowly(folder: Path) -> None:
    with (folder.parent / "makers").open("a") as makers:
        makers.write("one\n")
    time.sleep(0.5)
    write(folder)


def test_a_folder_is_made_once_and_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "cache" / "model"
    assert made_once(target, write) == target
    assert made_once(target, never) == target
    assert (target / "weights").read_bytes() == b"12345678"


def test_processes_that_want_it_at_once_make_it_once(tmp_path: Path) -> None:
    spawned = multiprocessing.get_context("fork")
    several = [spawned.Process(target=made_once, args=(tmp_path / "model", write_slowly)) for _ in range(3)]
    for each in several:
        each.start()
    for each in several:
        each.join(30)
        assert each.exitcode == 0
    assert (tmp_path / "makers").read_text() == "one\n"


def test_what_fails_leaves_nothing_under_its_name(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        folder.mkdir()
        (folder / "weights").write_bytes(b"123")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        made_once(tmp_path / "model", fails)
    assert not (tmp_path / "model").exists()
    made_once(tmp_path / "model", write)
    assert sorted(file.name for file in (tmp_path / "model").iterdir()) == ["config", "weights"]


@pytest.mark.parametrize("damage", ["flip", "cut", "lose", "add"])
def test_a_damaged_folder_is_made_anew(tmp_path: Path, damage: str) -> None:
    target = made_once(tmp_path / "model", write)
    weights = target / "weights"
    match damage:
        case "flip":
            weights.write_bytes(b"1234567x")
        case "cut":
            weights.write_bytes(b"1234")
        case "lose":
            weights.unlink()
        case "add":
            (target / "more").write_bytes(b"")
    made_once(target, write)
    assert weights.read_bytes() == b"12345678"
    assert not (target / "more").exists()


def test_a_folder_that_was_only_touched_is_compared_and_kept(tmp_path: Path) -> None:
    target = made_once(tmp_path / "model", write)
    os.utime(target / "weights", ns=(1, 1))
    made_once(target, never)
    stamp = (tmp_path / "model.json").read_text()
    made_once(target, never)
    assert (tmp_path / "model.json").read_text() == stamp  # this time without reading


def test_a_folder_without_a_stamp_is_made_anew(tmp_path: Path) -> None:
    write(tmp_path / "model")
    (tmp_path / "model" / "weights").write_bytes(b"87654321")  # a copy by hand, nobody knows of what
    made_once(tmp_path / "model", write)
    assert (tmp_path / "model" / "weights").read_bytes() == b"12345678"
