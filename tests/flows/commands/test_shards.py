import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from flows.cli import app
from infra.shards.ranges import ShardRange
from tasks.evaluation.splitting.steps import splits_store
from tasks.records import SPLITS
from tests.flows.conftest import MadeSet
from tests.infra.shards.samples import commit

run = CliRunner()


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_finished_and_missing_shards_are_counted(made_set: MadeSet) -> None:
    shown = squeezed(run.invoke(app, ["shards", "status", "-c", str(made_set.run_file), "-n", "20"]).stdout)
    assert "2 12 committed: finished" in shown
    assert "2 8 missing: to be made" in shown
    assert "part-00000012-00000018 missing part-00000018-00000020 missing" in shown


def test_other_settings_make_shards_stale_and_the_way_out_is_named(made_set: MadeSet) -> None:
    result = run.invoke(app, ["shards", "status", "-c", str(made_set.run_file), "--words", "100"])
    assert "2 12 stale: finished, with other settings" in squeezed(result.stdout)
    assert "--reprocess stale" in squeezed(result.stdout)
    assert result.exit_code == 0


@pytest.fixture
def copied(made_set: MadeSet, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_set.folder, tmp_path / "tiny"))


def test_a_sound_data_set_is_verified_with_code_0(copied: Path) -> None:
    result = run.invoke(app, ["shards", "verify", str(copied)])
    assert (result.exit_code, result.stdout) == (0, f"{copied}: 2 shards of records, every file as it was committed\n")


def test_every_damage_is_printed_and_the_code_is_4(copied: Path) -> None:
    file = copied / "records" / "part-00000000-00000006.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    (copied / "rejects" / "part-00000006-00000012.parquet").unlink()
    result = run.invoke(app, ["shards", "verify", str(copied)])
    assert result.exit_code == 4
    assert f"content_differs  {file}: SHA-256" in result.stdout
    assert "file_missing" in result.stdout
    assert result.stdout.splitlines()[-1] == f"2 findings in {copied}"


def test_every_stage_is_read_not_only_the_records(tmp_path: Path) -> None:
    store = splits_store(tmp_path, "tiny")
    shard = ShardRange(0, 1)
    row = {"record_id": "r-1", "index": 0, "split": "train", "reason": "drawn", "person": "0" * 64, "place": 0.5}
    commit(store, shard, tables={"splits": pa.Table.from_pylist([row], SPLITS)})
    sound = run.invoke(app, ["shards", "verify", str(tmp_path / "tiny")])
    assert sound.stdout.endswith(": 1 shard of splits, every file as it was committed\n")
    assert sound.exit_code == 0
    file = store.layout.data_file("splits", shard)
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    assert run.invoke(app, ["shards", "verify", str(tmp_path / "tiny")]).exit_code == 4


def test_a_stage_of_another_release_is_said_not_skipped(copied: Path) -> None:
    (copied / "manifest" / "someday").mkdir()
    result = run.invoke(app, ["shards", "verify", str(copied)])
    assert result.exit_code == 2
    assert "stage 'someday'" in result.stderr


def test_a_manifest_that_cannot_be_read_is_damage_for_every_command(copied: Path) -> None:
    entry = copied / "manifest" / "records" / "part-00000000-00000006.json"
    entry.write_text("{}", encoding="utf-8")
    assert run.invoke(app, ["shards", "verify", str(copied)]).exit_code == 4
    status = run.invoke(app, ["shards", "status", "--root", str(copied.parent), "--dataset", "tiny"])
    assert status.exit_code == 4
    assert str(entry) in status.stderr


def test_data_files_without_any_manifest_are_found(copied: Path) -> None:
    shutil.rmtree(copied / "manifest")
    result = run.invoke(app, ["shards", "verify", str(copied)])
    assert result.exit_code == 4
    assert "orphan" in result.stdout


@pytest.mark.parametrize("command", [["shards", "verify"], ["report"], ["compare"]])
def test_a_folder_that_is_no_data_set_is_a_usage_error(command: list[str], tmp_path: Path) -> None:
    gone = run.invoke(app, [*command, str(tmp_path / "gone")])
    assert gone.exit_code == 2
    assert f"{tmp_path / 'gone'}: no such folder" in gone.stderr
    empty = run.invoke(app, [*command, str(tmp_path)])
    assert empty.exit_code == 2
    assert f"{tmp_path}: not a data set" in empty.stderr


@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_data_set_without_a_finished_shard_has_nothing_to_show(command: str, copied: Path) -> None:
    for entry in (copied / "manifest" / "records").iterdir():
        entry.unlink()
    result = run.invoke(app, [command, str(copied)])
    assert result.exit_code == 2
    assert f"{copied}: no shard is finished yet" in result.stderr


@pytest.mark.parametrize(
    "command", [["shards", "verify"], ["shards", "matrix"], ["shards", "repair"], ["quarantine", "count"], ["report"]]
)
def test_a_root_is_refused_though_a_data_set_in_it_is_called_as_a_table_is(
    made_set: MadeSet, tmp_path: Path, command: list[str]
) -> None:
    shutil.copytree(made_set.folder, tmp_path / "records")
    result = run.invoke(app, [*command, str(tmp_path)])
    assert result.exit_code == 2
    assert f"name one of them, such as {tmp_path / 'records'}" in result.stderr


def test_a_data_set_is_told_from_a_root_where_its_manifest_and_its_journal_are_gone(copied: Path) -> None:
    for name in ("manifest", "journal"):
        shutil.rmtree(copied / name, ignore_errors=True)
    result = run.invoke(app, ["shards", "repair", str(copied)])
    assert result.exit_code == 4
    assert "orphan" in result.stdout
