import stat
from pathlib import Path

import pytest

from infra.stack.folder import StackBusy, StackFolder
from infra.stack.logs import cut_logs


def test_secrets_are_for_the_owner_alone_and_stay(tmp_path: Path) -> None:
    folder = StackFolder(tmp_path / "home")
    folder.make()
    before = folder.auth_string(), folder.ray_token.read_text()
    folder.password.chmod(0o644)
    folder.make()
    assert (folder.auth_string(), folder.ray_token.read_text()) == before
    assert [stat.S_IMODE(file.stat().st_mode) for file in (folder.password, folder.ray_token)] == [0o600, 0o600]
    assert stat.S_IMODE(folder.home.stat().st_mode) == 0o700


def test_two_folders_have_two_passwords(tmp_path: Path) -> None:
    folders = [StackFolder(tmp_path / name) for name in "ab"]
    for folder in folders:
        folder.make()
    assert folders[0].auth_string() != folders[1].auth_string()
    assert folders[0].auth_string().startswith("privasis:")


def test_a_folder_has_one_supervisor(tmp_path: Path) -> None:
    folder = StackFolder(tmp_path)
    with folder.held(), pytest.raises(StackBusy, match="privasis ps"), folder.held():
        pass
    with folder.held():
        pass


def test_a_large_log_is_cut_and_its_writer_goes_on(tmp_path: Path) -> None:
    log, small = tmp_path / "worker.log", tmp_path / "ray.log"
    small.write_text("few")
    with log.open("a") as writer:
        writer.write("x" * 100)
        writer.flush()
        cut_logs(tmp_path, large_bytes=50)
        writer.write("next")
    assert log.read_text() == "next"
    assert (tmp_path / "worker.log.1").read_text() == "x" * 100
    assert small.read_text() == "few"
    assert not (tmp_path / "ray.log.1").exists()
