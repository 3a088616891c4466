"""``privasis export``: a folder that the `datasets` library loads, and what is refused before anything is written."""

from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from flows.cli import app
from flows.config import RunConfig
from infra.llm.types import Request
from tests.tasks.sanitization.records import LETTER
from tests.tasks.sanitization.script import honest
from tests.tasks.sanitization.shards import FIRST, SECOND, commit_records, made
from tests.tasks.synthesis.script import Answer

runner = CliRunner()


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """The folder of a data set of four triplets; of record 4, the model leaves its values where they are."""
    run = RunConfig(dataset="tiny", root=tmp_path, seed=7)

    def answer(request: Request) -> Answer:
        if request.tags["record_id"].endswith("4") and request.tags["step"].startswith("apply"):
            return honest(request).replace("someone", "ANA LIMA")
        return honest(request)

    for shard in (FIRST, SECOND):
        commit_records(tmp_path, shard)
        await made(run, shard, answer)
    return tmp_path / "tiny"


def exported(*arguments: str) -> tuple[int, str, str]:
    result = runner.invoke(app, ["export", *arguments])
    return result.exit_code, result.stdout, result.stderr


def loaded(folder: Path, cache: Path) -> Any:
    return load_dataset(str(folder), cache_dir=str(cache))


def test_the_datasets_library_loads_what_is_exported(data: Path, tmp_path: Path) -> None:
    code, out, err = exported(str(data))
    assert (code, err) == (0, "")
    assert "in `train`: `privasis split`" in out
    chats = loaded(data / "export", tmp_path / "cache")
    assert set(chats) == {"train"}
    assert 3 <= len(chats["train"]) <= 4
    assert all(chats["train"]["verified"])
    row = chats["train"][0]
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]


def test_parts_are_those_of_privasis_split_and_disjoint(data: Path, tmp_path: Path) -> None:
    flags = ["--root", str(tmp_path), "--dataset", "tiny"]
    assert runner.invoke(app, ["split", *flags, "--test", "0.999", "--validation", "0"]).exit_code == 0
    assert exported(str(data), "--to", str(tmp_path / "chats"))[0] == 0
    chats = loaded(tmp_path / "chats", tmp_path / "cache")
    assert set(chats) == {"test"}  # all records are of one person: she is in one part
    assert len(chats["test"]) == 4
    assert "disjoint by record and by person" in (tmp_path / "chats" / "README.md").read_text()


def test_an_export_takes_the_place_of_an_earlier_one_and_of_nothing_else(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "chats"
    assert exported(str(data), "--to", str(target))[0] == 0
    (target / "data" / "train-00009.parquet").write_bytes(b"old")
    assert exported(str(data), "--to", str(target))[0] == 0
    assert [path.name for path in (target / "data").iterdir()] == ["train-00000.parquet"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    code, _, err = exported(str(data), "--to", str(mine))
    assert code == 2
    assert "name another folder" in err
    assert (mine / "thesis.txt").exists()


@pytest.mark.parametrize("name", ["main.py", "data/notes.parquet", "data/train-00000.parquet/thesis.txt", ".git/HEAD"])
def test_a_folder_with_a_readme_and_other_files_is_not_taken_for_an_export(
    data: Path, tmp_path: Path, name: str
) -> None:
    mine = tmp_path / "mine"
    (mine / name).parent.mkdir(parents=True)
    (mine / "README.md").write_text("# My project", encoding="utf-8")
    (mine / name).write_text("mine", encoding="utf-8")
    code, _, err = exported(str(data), "--to", str(mine))
    assert (code, (mine / name).read_text(encoding="utf-8")) == (2, "mine")
    assert "no export has written this" in " ".join(err.split())


def test_an_export_takes_the_place_of_an_earlier_one(data: Path) -> None:
    for _ in range(2):
        assert exported(str(data))[0] == 0
    assert sorted(path.name for path in (data / "export").iterdir()) == ["README.md", "data"]


async def test_triplets_made_after_the_last_split_are_not_left_out_without_a_word(data: Path, tmp_path: Path) -> None:
    flags = ["--root", str(tmp_path), "--dataset", "tiny"]
    assert runner.invoke(app, ["split", *flags]).exit_code == 0
    assert exported(str(data))[0] == 0
    commit_records(tmp_path, SECOND, LETTER.replace("swollen", "sore"))
    await made(RunConfig(dataset="tiny", root=tmp_path, seed=7), SECOND)
    code, _, err = exported(str(data))
    assert code == 2
    assert "`privasis split` again" in " ".join(err.split())
    assert runner.invoke(app, ["split", *flags]).exit_code == 0
    assert exported(str(data))[0] == 0


def test_without_a_token_nothing_is_written_or_sent(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    code, _, err = exported(str(data), "--push", "me/chats")
    assert code == 3
    assert "set the environment variable HF_TOKEN" in err
    assert not (data / "export").exists()


def test_a_data_set_without_triplets_is_told_what_to_do(tmp_path: Path) -> None:
    commit_records(tmp_path, FIRST)
    code, _, err = exported(str(tmp_path / "tiny"))
    assert code == 2
    assert "`privasis sanitize` first" in err
