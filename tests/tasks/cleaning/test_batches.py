import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import BackendUnavailable, Request
from infra.shards.lease import LeaseHeld
from tasks.cleaning.batches.document import Batch, BatchUnusable
from tasks.cleaning.batches.folder import FolderBatch
from tasks.cleaning.batches.jsonl import JsonlBatch
from tasks.cleaning.batches.parquet import ParquetBatch
from tasks.cleaning.clean import Cleaner
from tasks.cleaning.config import CleaningConfig
from tasks.cleaning.steps import Tally, clean_batch, journal_folder, journals_of
from tasks.cleaning.values import Value
from tests.tasks.cleaning.scripted import asked

NAMES = (Value(key="name", value="Ann"),)


def hide(request: Request) -> str | Exception:
    text = asked(request)[1]
    return "" if "secret" in text else text.replace("Ann", "she")


async def clean(batch: Batch, target: Path, backend: FakeBackend | None = None, **options: Any) -> Tally:
    with journal_folder(target) as journals, batch:
        return await clean_batch(
            batch,
            Cleaner(backend or FakeBackend(hide), CleaningConfig(attempts=1)),
            "Hide Ann.",
            NAMES,
            journals=journals,
            in_flight=options.get("in_flight", 2),
            report=options.get("report"),
            progress=lambda _: None,
        )


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_a_column_of_parquet_is_cleaned_and_all_else_stays(tmp_path: Path) -> None:
    source, target = tmp_path / "notes.parquet", tmp_path / "clean.parquet"
    texts = ["Ann came.", None, "Ann's secret.", " "]
    schema = pa.schema([pa.field("id", pa.int8()), pa.field("note", pa.large_string(), nullable=False)], {"k": "v"})
    pq.write_table(
        pa.table({"id": [1, 2, 3, 4], "note": texts}, schema.set(1, schema.field(1).with_nullable(True))), source
    )
    tally = await clean(ParquetBatch(source, target, "note"), target)
    made = pq.read_table(target)
    assert made.to_pydict() == {"id": [1, 2, 3, 4], "note": ["she came.", None, None, " "]}
    assert (made.schema.types, made.schema.metadata) == (schema.types, {b"k": b"v"})
    rejects = pq.read_table(tmp_path / "clean.rejects.parquet").to_pylist()
    assert [(each["row"], each["reason"]) for each in rejects] == [(2, "empty_reply")]
    assert (tally.clean, tally.failed) == (3, {"empty_reply": 1})
    assert names_in(tmp_path) == {*("notes.parquet", "clean.parquet", "clean.rejects.parquet", "clean.parquet.journal")}


async def test_a_field_of_json_lines_is_cleaned_and_bad_lines_are_rejects(tmp_path: Path) -> None:
    source, target = tmp_path / "notes.jsonl", tmp_path / "clean.jsonl"
    lines = ['{"id": 1, "text": "Ann came. é"}', " ", "not json", '["Ann"]', '{"id": 4}', '{"id": 5, "text": null}']
    lines += ["[" * 100_000, '{"id": "\\ud800", "text": "Ann \\ud800"}', ""]
    source.write_text("\n".join(lines), encoding="utf-8")
    await clean(JsonlBatch(source, target, "text"), target)
    assert rows(target) == [
        {"id": 1, "text": "she came. é"},
        {"text": None},
        {"text": None},
        {"text": None},
        {"id": 5, "text": None},
        {"text": None},
        {"id": "\ud800", "text": None},
    ]
    assert [(each["row"], each["reason"]) for each in rows(tmp_path / "clean.rejects.jsonl")] == [
        (2, "not_json"),
        (3, "no_text"),
        (4, "no_text"),
        (6, "not_json"),
        (7, "unicode"),
    ]


async def test_files_of_a_folder_are_cleaned_one_by_one(tmp_path: Path) -> None:
    source, target = tmp_path / "letters", tmp_path / "clean"
    (source / "in").mkdir(parents=True)
    (source / "a.txt").write_bytes(b"Ann came.\r\n")
    (source / "in" / "b.md").write_text("Ann's secret.")
    (source / "c.png").write_bytes(b"\x89PNG\xff")
    (source / ".hidden").write_text("Ann")
    (source / "link.txt").symlink_to("/etc/hostname")
    (target / "in").mkdir(parents=True)
    (target / "in" / "b.md").write_text("of an earlier request")
    await clean(FolderBatch(source, target), target)
    assert [path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()] == ["a.txt"]
    assert (target / "a.txt").read_bytes() == b"she came.\r\n"
    rejects = rows(tmp_path / "clean.rejects.jsonl")
    assert [(each["file"], each["reason"]) for each in rejects] == [("c.png", "not_utf8"), ("in/b.md", "empty_reply")]


async def test_what_is_finished_is_not_asked_again_and_what_failed_is(tmp_path: Path) -> None:
    source, target = tmp_path / "notes.jsonl", tmp_path / "clean.jsonl"
    source.write_text("".join(f'{{"text": "Ann came {number} times."}}\n' for number in range(600)))

    def dies_at(number: int) -> Callable[[Request], str | Exception]:
        def answer(request: Request) -> str | Exception:
            return BackendUnavailable("gone") if f" {number} times" in asked(request)[1] else hide(request)

        return answer

    first = FakeBackend(dies_at(300))
    with pytest.raises(BackendUnavailable):
        await clean(JsonlBatch(source, target, "text"), target, first, in_flight=1)
    assert not target.exists()
    second = FakeBackend(hide)
    await clean(JsonlBatch(source, target, "text"), target, second)
    assert len(first.requests) > 256  # more than the first part
    assert len(first.requests) + len(second.requests) == 601  # the one that died was asked twice
    assert rows(target) == [{"text": f"she came {number} times."} for number in range(600)]


async def test_a_report_has_a_line_for_each_clean_text(tmp_path: Path) -> None:
    source, target = tmp_path / "notes.jsonl", tmp_path / "clean.jsonl"
    source.write_text('{"text": "Ann came."}\n{"text": "secret"}\n{"text": "Anna left."}\n')
    with (tmp_path / "report.jsonl").open("w") as report:
        tally = await clean(JsonlBatch(source, target, "text"), target, FakeBackend(leave), report=report)
    made = rows(tmp_path / "report.jsonl")
    assert [each["document"] for each in made] == ["0", "2"]
    assert made[0]["report"]["values"][0]["remaining"] == [{"start": 0, "stop": 3, "exact": True}]
    assert tally.leaking == 2


def leave(request: Request) -> str:
    text = asked(request)[1]
    return "" if "secret" in text else text


def test_the_journals_are_for_one_process_and_its_owner(tmp_path: Path) -> None:
    target = tmp_path / "clean.jsonl"
    with journal_folder(target):
        with pytest.raises(LeaseHeld, match="another process"), journal_folder(target):
            pass
        assert journals_of(target).stat().st_mode & 0o077 == 0


def test_a_folder_of_journals_in_which_nothing_came_is_gone(tmp_path: Path) -> None:
    target = tmp_path / "clean.jsonl"
    with journal_folder(target):
        pass
    assert not journals_of(target).exists()
    with journal_folder(target) as journals:
        (journals / "part-000000.journal").touch()
    assert journals_of(target).exists()


async def test_a_file_whose_name_is_in_no_encoding_is_cleaned_as_well(tmp_path: Path) -> None:
    source, target = tmp_path / "notes", tmp_path / "clean"
    source.mkdir()
    name = os.fsdecode(b"caf\xe9.txt")
    (source / name).write_text("Ann came.")
    tally = await clean(FolderBatch(source, target), target)
    assert (tally.clean, (target / name).read_text()) == (1, "she came.")


def test_a_column_that_is_not_there_or_holds_no_texts_is_told(tmp_path: Path) -> None:
    source = tmp_path / "notes.parquet"
    pq.write_table(pa.table({"id": [1]}), source)
    for column, said in (("text", "no column 'text'"), ("id", "holds int64")):
        with pytest.raises(BatchUnusable, match=said):
            ParquetBatch(source, tmp_path / "clean.parquet", column)


def test_a_folder_cannot_be_cleaned_into_itself(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann")
    with pytest.raises(BatchUnusable, match="within"):
        FolderBatch(tmp_path, tmp_path / "clean")
