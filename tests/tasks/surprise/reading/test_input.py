import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.surprise.baselines.detected import path_of
from tasks.surprise.documents import Document
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.input import Input, content_hash, read
from tasks.surprise.reading.raw import InputUnfit
from tests.tasks.surprise.reading.inputs import input_of, items_of, reasons


def jsonl(path: Path, *texts: str, id: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f'{{"text": "{text}", "id": "{id}{place}"}}\n' for place, text in enumerate(texts)]
    path.write_text("".join(rows))
    return path


def test_files_folders_and_patterns_are_one_input_in_a_stable_order(tmp_path: Path) -> None:
    jsonl(tmp_path / "x" / "b.jsonl", "three")
    jsonl(tmp_path / "x" / "a.jsonl", "one", "two")
    (tmp_path / "x" / "_SUCCESS.jsonl").write_text("not data")
    (tmp_path / "x" / "README.md").write_text("not data")
    (tmp_path / "c1.jsonl.gz").write_bytes(gzip.compress(b'{"text": "four"}\n'))
    jsonl(tmp_path / "c2.jsonl", "five")
    (tmp_path / "note.txt").write_text("six")
    items = items_of(tmp_path / "x", tmp_path / "c*.jsonl*", tmp_path / "note.txt")
    assert reasons(items) == {
        "x/a.jsonl:1": "one",
        "x/a.jsonl:2": "two",
        "x/b.jsonl:1": "three",
        "c1.jsonl.gz:1": "four",
        "c2.jsonl:1": "five",
        "note.txt": "six",
    }
    assert [item.id for item in items if isinstance(item, Document)] == list(reasons(items))


def test_parquet_goes_before_json_lines_in_a_folder_unless_told(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", "line")
    pq.write_table(pa.table({"text": ["row"]}), tmp_path / "b.parquet")
    assert reasons(items_of(tmp_path)) == {"b.parquet:0": "row"}
    assert reasons(items_of(tmp_path, format="jsonl")) == {"a.jsonl:1": "line"}
    assert reasons(items_of(tmp_path, suffixes=(".JSONL",))).keys() == {"a.jsonl"}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    for name, content in {
        "main.py": b"\xef\xbb\xbfprint('h\xc3\xa9')\r\n",
        "lib/util.PY": b"x = 1\n",
        "lib/old.c": b"/* caf\xe9 */",
        "lib/logo.png": b"\x89PNG\0",
        "empty.py": b"",
        ".git/config": b"[core]",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (tmp_path / "secret.py").write_text("outside")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "secret.py").write_text("outside")
    (folder / "leak.py").symlink_to(tmp_path / "secret.py")
    (folder / "lib" / "again.py").symlink_to(folder / "main.py")
    (folder / "more").symlink_to(tmp_path / "more")
    (folder / "gone.py").symlink_to(folder / "nowhere.py")
    os.mkfifo(folder / "pipe.py")
    return folder


def test_a_file_tells_scanners_of_secrets_what_it_is_called_without_being_asked(code: Path) -> None:
    (found,) = (item for item in items_of(code, suffixes=("util.py",)) if isinstance(item, Document))
    assert path_of(found) == "lib/util.PY"


def test_every_file_of_a_folder_is_a_row_and_nothing_outside_is_read(code: Path) -> None:
    assert reasons(items_of(code)) == {
        "empty.py": "empty_text",
        "gone.py": "unreadable_file",
        "leak.py": "outside_link",
        "main.py": "print('hé')\r\n",
        "pipe.py": "not_a_file",
        "lib/again.py": "print('hé')\r\n",
        "lib/logo.png": "binary",
        "lib/old.c": "invalid_utf8",
        "lib/util.PY": "x = 1\n",
    }


def test_files_are_chosen_by_suffix_and_broken_down_by_folder(code: Path) -> None:
    (found,) = items_of(code / "lib", suffixes=(".py",), strata=("suffix", "folder"))[1:]
    assert found == Document(id="util.PY", text="x = 1\n", strata={"suffix": ".py", "path": "util.PY"})
    whole = items_of(code, suffixes=(".py",), group="folder", strata=("suffix", "folder"))[-1]
    assert whole == Document(
        "lib/util.PY", "x = 1\n", "lib", strata={"suffix": ".py", "folder": "lib", "path": "lib/util.PY"}
    )


def test_a_name_that_is_no_text_is_written_with_escapes(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))).write_text("a")
    assert reasons(items_of(tmp_path)) == {"caf\\xe9.txt": "a"}


@pytest.mark.parametrize(
    ("ids", "places"),
    [
        (("a", "a"), "x.jsonl, line 1, and y.jsonl, line 1"),
        (("a", ""), None),
    ],
)
def test_two_rows_of_one_id_are_an_error_that_names_both(
    tmp_path: Path, ids: tuple[str, str], places: str | None
) -> None:
    jsonl(tmp_path / "x.jsonl", "one", "two", id=ids[0])
    jsonl(tmp_path / "y.jsonl", "three", id=ids[1])
    found = input_of(tmp_path, id="id")
    if places is None:
        found.check_ids()
        return
    with pytest.raises(InputUnfit, match=f"id 'a0' stands twice: {places}"):
        found.check_ids()


def test_what_is_named_twice_is_an_error(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "a.jsonl", "one")
    with pytest.raises(InputUnfit, match="named twice"):
        input_of(tmp_path, file)


@pytest.mark.parametrize("name", ["nothing", "nothing*.jsonl", "empty", "empty.jsonl"])
def test_an_input_without_rows_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InputUnfit, match=r"no such file|no file|no rows"):
        input_of(tmp_path / name)


def test_a_changed_row_changes_the_hash_of_the_ranges_that_hold_it(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", *map(str, range(10)))
    jsonl(tmp_path / "b.jsonl", *map(str, range(10)))

    def hashes() -> list[str]:
        found = input_of(tmp_path)
        return [content_hash(found.slices(start, start + 4)) for start in range(0, 20, 4)]

    before = hashes()
    assert len(set(before)) == 5
    jsonl(tmp_path / "a.jsonl", *map(str, range(9)), "changed")
    assert [old == new for old, new in zip(before, hashes(), strict=True)] == [True, True, False, True, True]


def test_the_hash_read_with_the_rows_is_the_planned_one(tmp_path: Path, code: Path) -> None:
    jsonl(tmp_path / "a.jsonl", "one", "two")
    found: Input = input_of(tmp_path / "a.jsonl", code)
    assert read(found.slices(1, 7)).sha256 == content_hash(found.slices(1, 7))
    assert len(read(found.slices(1, 7)).items) == 6
    assert found.slices(8, 100)  # clipped
    assert found.slices(100, 200) == ()


def test_a_column_that_no_row_has_is_an_error_and_not_an_input_without_labels_or_groups(tmp_path: Path) -> None:
    rows = ["", "[1]", '{"text": "a", "user": "ann"}', *['{"text": "a"}'] * 100, '{"text": "b", "spans": null}']
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    columns: dict[str, Any] = {"group": "user", "labels": "spans"}
    input_of(tmp_path, **columns).check_columns(Columns(**columns).used())
    for name, named in (("labels", "span"), ("group", "usr"), ("text", "note"), ("supervised", "mine")):
        wrong = columns | {name: named}
        with pytest.raises(InputUnfit, match=rf"no row has the column '{named}'; there are text, user, spans: "):
            input_of(tmp_path, **wrong).check_columns(Columns(**wrong).used())


def test_a_column_need_be_in_one_of_several_files_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}')
    (tmp_path / "b.jsonl").write_text('{"text": "b", "spans": []}')
    (tmp_path / "note.txt").write_text("c")
    pq.write_table(pa.table({"text": ["d"], "spans": [None]}), tmp_path / "d.parquet")
    wanted = Columns(labels="spans").used()
    input_of(tmp_path / "note.txt", tmp_path / "a.jsonl", tmp_path / "b.jsonl", labels="spans").check_columns(wanted)
    input_of(tmp_path / "note.txt", tmp_path / "d.parquet", labels="spans").check_columns(wanted)
    with pytest.raises(InputUnfit, match="'spans'; there are text, path, name, folder, suffix"):
        input_of(tmp_path / "note.txt", labels="spans").check_columns(wanted)
    input_of(tmp_path / "note.txt", strata=("folder",)).check_columns(("text", "folder"))


def test_an_input_of_which_nothing_can_be_read_is_left_to_its_rejects(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n{torn")
    input_of(tmp_path).check_columns(["text"])
