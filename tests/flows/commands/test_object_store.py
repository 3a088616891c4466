"""Data in an object store give training, attacks and scoring what the same data give them in a folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.config import RunConfig
from infra.shards.location import Location, ObjectPath
from tasks.evaluation.splitting.assign import SplitConfig
from tasks.evaluation.splitting.steps import SplitJob, make_splits
from tasks.evaluation.verdict import full_successes
from tasks.measuring.corpus.steps import (
    CorpusUnfit,
    has_quirks,
    read_applies,
    read_gold_chats,
    read_gold_documents,
    read_questions,
    read_targets,
)
from tasks.surprise.reading.input import Input, read
from tasks.surprise.reading.raw import InputUnfit
from tasks.surprise.reading.steps import InputConfig
from tasks.training.cleaner.prepare import DataUnfit
from tasks.training.cleaner.reading.steps import read_chats, read_export
from tests.flows.commands.surprise.shards import write_scores
from tests.infra.shards import object_store
from tests.infra.shards.object_store import BUCKET, Store
from tests.tasks.measuring.small_corpus import write_corpus
from tests.tasks.sanitization.script import honest
from tests.tasks.sanitization.shards import FIRST, commit_records, made
from tests.tasks.training.cleaner.test_chats import row, write_export
from tests.tasks.training.masked.test_maskings import scored


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with object_store.served() as server:
        yield server
        object_store.forget()


@pytest.fixture
def store(server: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    object_store.use(server, monkeypatch, tmp_path / "scratch")
    return server


def test_masks_are_made_of_scores_in_a_bucket(store: Store, tmp_path: Path) -> None:
    folder = write_scores(tmp_path / "scores", scored(6).table.to_pylist())
    made = {}
    for name, data in (("here", folder), ("there", store.hold_folder(folder, "masked/scores"))):
        asked = ["train", "masked", "--data", str(data), "--masks", str(tmp_path / name), "-o", str(tmp_path / "out")]
        refused = CliRunner().invoke(app, [*asked, "--tokenizer", "300", "--masking", "none"])
        assert (refused.exit_code, "none: no such masking" in refused.output) == (2, True), refused.output
        made[name] = {file.name: file.read_bytes() for file in (tmp_path / name).rglob("*") if file.is_file()}
    assert made["here"] == made["there"]
    assert len(made["here"]) > 3


def test_an_export_in_a_bucket_gives_the_same_chats(store: Store, tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    assert read_export(store.hold_folder(folder, "chats/export")) == read_export(folder)
    lines = b'{"record_id": "a", "messages": [{"role": "user", "content": "\xc3\xa9"}]}\n'
    store.hold("chats/lines/train.jsonl", lines * 3)
    assert [each.id for each in read_export(ObjectPath(BUCKET, "chats/lines")).train] == ["a", "a", "a"]
    with pytest.raises(DataUnfit, match="s3://letters/chats/none: no chats to train on"):
        read_export(ObjectPath(BUCKET, "chats/none"))


async def test_triplets_in_a_bucket_give_the_same_chats(store: Store, tmp_path: Path) -> None:
    commit_records(tmp_path, FIRST)
    await made(RunConfig(dataset="tiny", root=tmp_path, seed=7), FIRST, honest)
    split = SplitJob(root=tmp_path, dataset="tiny", config=SplitConfig(test=0.001, validation=0))
    make_splits(split, None, FIRST, full_successes)
    found = read_chats(store.hold_folder(tmp_path / "tiny", "triplets/tiny"))
    assert found == read_chats(tmp_path / "tiny")
    assert found.train


def test_a_corpus_in_a_bucket_is_measured_on_as_one_in_a_folder(store: Store, tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "corpus", quirks=True)
    place = store.hold_folder(folder, "corpora/quirks")

    def all_of(corpus: Location) -> list[Any]:
        return [
            *(read_targets(corpus, form) for form in ("chats", "documents")),
            *(read_questions(corpus, form) for form in ("chats", "documents")),
            read_gold_chats(corpus),
            read_gold_documents(corpus),
            read_applies(corpus),
            has_quirks(corpus),
        ]

    found = all_of(place)
    assert found == all_of(folder)
    assert all(found)
    assert not has_quirks(ObjectPath(BUCKET, "corpora"))
    with pytest.raises(CorpusUnfit, match=r"s3://letters/corpora/values\.parquet: no such file"):
        read_targets(ObjectPath(BUCKET, "corpora"), "chats")
    store.hold("corpora/odd/tasks.parquet", b"odd")
    with pytest.raises(CorpusUnfit, match="not a Parquet file"):
        read_gold_chats(ObjectPath(BUCKET, "corpora/odd"))


@pytest.mark.parametrize(
    "command",
    [
        ["train", "cleaner", "-o", "out", "--model", "tiny", "--data"],
        ["train", "masked", "-o", "out", "--masks", "masks", "--data"],
        ["evaluate", "extraction", "model", "-o", "out", "--corpus"],
        ["evaluate", "quirks", "model", "-o", "out", "--corpus"],
        ["evaluate", "utility", "model", "-o", "out", "--corpus"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
@pytest.mark.parametrize("place", ["s3://letters/not-there", "not-there"])
def test_data_that_are_not_there_are_told_before_anything_is_done(store: Store, command: list[str], place: str) -> None:
    asked = CliRunner().invoke(app, [*command, place])
    told = " ".join(asked.output.replace("│", " ").split())
    assert (asked.exit_code, f"{place}: no such folder" in told) == (2, True), told
    assert not Path("out").exists()


def opened(*places: Location, **changed: Any) -> Input:
    return InputConfig(paths=places, **changed).open()


def write_texts(folder: Path) -> Path:
    for name in ("a", "deep/b", "deep/c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        table = pa.table({"text": [f"{name} one", f"{name} two"]})
        pq.write_table(table, folder / f"{name}.parquet")
    (folder / "_SUCCESS.parquet").write_bytes(b"")
    (folder / "card.md").write_text("card")
    return folder


def test_tables_in_a_bucket_are_scored_under_the_names_that_they_have_in_a_folder(store: Store, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts")
    place = store.hold_folder(folder, "scored/texts")
    for names, rows in (([""], 6), (["deep"], 4), (["deep/c.parquet", "a.parquet"], 4)):
        here = opened(*(folder / name for name in names))
        there = opened(*(place / name if name else place for name in names))
        items = read(there.slices(0, there.rows)).items
        assert items == read(here.slices(0, here.rows)).items, names
        assert len(items) == rows, names


def test_what_cannot_be_scored_in_a_bucket_is_told(store: Store, tmp_path: Path) -> None:
    place = store.hold_folder(write_texts(tmp_path / "texts"), "unfit/texts")
    with pytest.raises(InputUnfit, match=r"deep/b\.parquet: named twice"):
        opened(place, place / "deep" / "b.parquet")
    with pytest.raises(InputUnfit, match="none/here: no data set of records, and no Parquet file below it"):
        opened(place / "none" / "here")
    with pytest.raises(InputUnfit, match="only Parquet is read: copy other files"):
        opened(place, format="text")
    pq.write_table(pa.Table.from_pylist([row("a")]), tmp_path / "chats.parquet")
    chats = store.hold_folder(tmp_path, "unfit/other") / "chats.parquet"
    with pytest.raises(InputUnfit, match="no column 'text'; there are record_id"):
        opened(chats)
