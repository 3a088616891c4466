from pathlib import Path

import pyarrow.parquet as pq
import pytest

from flows.config import ConfigError
from flows.corpus import MANIFEST, PASSED, CorpusManifest, make_code_pii, make_code_quirks
from flows.corpus_checks import Check, Passed, ProgramFailed, run_checks
from infra.shards import files
from infra.shards.folder_lock import FolderTaken, folder_locked
from tasks.corpora.code_pii.config import CodePiiConfig
from tasks.corpora.code_quirks.config import CodeQuirksConfig
from tasks.surprise.documents import Chat, Document
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.input import read
from tasks.surprise.reading.steps import InputConfig
from tasks.surprise.scoring.render import ChatRenderer

PII = CodePiiConfig(identities=2, bundles=1, calibration_identities=1, calibration_bundles=1, development_tasks=2)
QUIRKS = CodeQuirksConfig(
    programs=1, tasks=20, calibration_users=1, calibration_programs=1, development_tasks=2, display_tasks=1
)
COMMON = {"id": "id", "group": "group", "labelled": "labelled", "strata": ("kind",)}


@pytest.fixture(scope="module")
def pii(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CorpusManifest]:
    folder = tmp_path_factory.mktemp("pii")
    return folder, make_code_pii(PII, folder, workers=2)


def read_all(path: Path, columns: Columns) -> list[Document | Chat]:
    rows = InputConfig(paths=(path,), columns=columns).open()
    items = [item for item in read(rows.slices(0, rows.rows)).items if isinstance(item, Document | Chat)]
    assert len(items) == rows.rows
    return items


def test_the_scoring_of_surprise_reads_chats_with_the_values_as_labels(pii: tuple[Path, CorpusManifest]) -> None:
    folder, _ = pii
    values = {row["text"]: row for row in pq.read_table(folder / "values.parquet").to_pylist()}
    chats = read_all(folder / "chats/train.parquet", Columns(messages="messages", **COMMON))
    assert len(chats) == 2 * 18
    for chat in chats:
        assert isinstance(chat, Chat)
        assert chat.labelled
        found = [
            (turn.role, turn.content[each.start : each.end], each.category)
            for turn in chat.turns
            for each in turn.labels
        ]
        assert len(found) == (chat.strata["kind"] == "contaminated")
        for role, text, category in found:
            assert (role, category, chat.group) == ("assistant", values[text]["kind"], values[text]["group"])


def test_the_scoring_of_surprise_reads_documents_with_the_values_as_labels(pii: tuple[Path, CorpusManifest]) -> None:
    folder, _ = pii
    values = {row["text"]: row["kind"] for row in pq.read_table(folder / "values.parquet").to_pylist()}
    texts = read_all(folder / "documents/train.parquet", Columns(labels="labels", **COMMON))
    labels = [(each.text[label.start : label.end], label.category) for each in texts for label in each.labels]  # type: ignore[union-attr]
    assert (len(texts), len(labels)) == (48, 32)
    assert all(values[text] == category for text, category in labels)


def test_labels_stand_on_the_values_in_a_rendered_chat_where_tokens_are_supervised(
    pii: tuple[Path, CorpusManifest],
) -> None:
    def chatml(messages: list[dict[str, str]]) -> str:
        return "".join(f"<|im_start|>{each['role']}\n{each['content'].strip()}<|im_end|>\n" for each in messages)

    folder, _ = pii
    values = {row["text"] for row in pq.read_table(folder / "values.parquet").to_pylist()}
    for chat in read_all(folder / "chats/train.parquet", Columns(messages="messages", **COMMON)):
        assert isinstance(chat, Chat)
        document = ChatRenderer(chatml).render(chat).document
        assert len(document.labels) == (chat.strata["kind"] == "contaminated")
        for label in document.labels:
            assert document.text[label.start : label.end] in values
            assert document.supervised is not None
            assert document.supervised[0].start <= label.start < label.end <= document.supervised[0].end


def test_the_manifest_tells_of_every_file(pii: tuple[Path, CorpusManifest]) -> None:
    folder, manifest = pii
    assert CorpusManifest.model_validate_json((folder / MANIFEST).read_bytes()) == manifest
    written = {str(path.relative_to(folder)) for path in folder.rglob("*.parquet")}
    assert written == set(manifest.files)
    for name, record in manifest.files.items():
        assert files.sha256((folder / name).read_bytes()) == record.sha256
        assert pq.read_metadata(folder / name).num_rows == record.rows
    assert manifest.counts["chats/train.parquet"] == {
        "contaminated": 32,
        "clean_implementation": 2,
        "clean_repair": 2,
    }
    assert manifest.files["tasks.parquet"].rows == 4  # two wordings of two tasks
    assert {row["chats"] for row in pq.read_table(folder / "values.parquet").to_pylist()} == {4}


def test_a_second_run_runs_nothing_and_writes_the_same(pii: tuple[Path, CorpusManifest]) -> None:
    folder, manifest = pii
    ran: list[int] = []
    assert make_code_pii(PII, folder, tell=ran.append) == manifest
    assert ran == []


def test_what_a_larger_corpus_has_in_common_is_not_run_again(pii: tuple[Path, CorpusManifest], tmp_path: Path) -> None:
    folder, _ = pii
    (tmp_path / PASSED).write_bytes((folder / PASSED).read_bytes())
    ran: list[int] = []
    make_code_pii(PII.model_copy(update={"bundles": 2}), tmp_path, tell=ran.append)
    assert 2 <= len(ran) <= 4  # two bundles, and their tasks where they are new
    smaller = pq.read_table(folder / "chats/train.parquet").to_pylist()
    assert pq.read_table(tmp_path / "chats/train.parquet").to_pylist()[: len(smaller)] == smaller


def test_quirks_are_written_with_where_to_measure_their_display(tmp_path: Path) -> None:
    manifest = make_code_quirks(QUIRKS, tmp_path, workers=2)
    assert sum(manifest.counts["chats/train.parquet"].values()) == manifest.files["display.parquet"].rows == 10
    ids = {row["id"] for row in pq.read_table(tmp_path / "tasks.parquet").to_pylist()}
    assert {row["id"] for row in pq.read_table(tmp_path / "display.parquet").to_pylist()} <= ids
    texts = read_all(tmp_path / "documents/train.parquet", Columns(labels="labels", **COMMON))
    assert all(isinstance(each, Document) and each.labels and each.group for each in texts)


def test_a_folder_that_holds_another_corpus_is_left_as_it_is(pii: tuple[Path, CorpusManifest]) -> None:
    folder, _ = pii
    with pytest.raises(ConfigError, match="holds a corpus 'code-pii': give another folder for 'code-quirks'"):
        make_code_quirks(QUIRKS, folder)


def test_a_program_that_fails_is_named_with_its_reason_and_what_passed_is_kept(tmp_path: Path) -> None:
    passed = Passed(tmp_path / PASSED)
    good, bad = Check("good", "assert 1 == 1\n"), Check("bundle-7", "assert 1 == 2, 'not so'\n")
    with pytest.raises(ProgramFailed, match=r"bundle-7: failed with status 1 after .* s: AssertionError: not so\."):
        run_checks([good, bad, good], passed, 1, lambda ran: None)
    again = Passed(tmp_path / PASSED)
    assert good.sha256 in again
    assert bad.sha256 not in again


@pytest.mark.parametrize("leaves", ["import sys\nsys.exit(0)\n", "import os\nos._exit(0)\n", "raise SystemExit\n"])
def test_a_program_that_ends_before_its_tests_do_has_not_passed(tmp_path: Path, leaves: str) -> None:
    with pytest.raises(ProgramFailed, match="early: it ended before its tests did"):
        run_checks([Check("early", f"{leaves}assert False\n")], Passed(tmp_path / PASSED), 1, lambda ran: None)


def test_two_at_once_in_a_folder_are_kept_apart(tmp_path: Path) -> None:
    with folder_locked(tmp_path), pytest.raises(FolderTaken, match="another process is at work in it"):
        make_code_quirks(QUIRKS, tmp_path)


def test_tables_that_are_being_written_have_no_manifest(
    pii: tuple[Path, CorpusManifest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (MANIFEST, PASSED):
        (tmp_path / name).write_bytes((pii[0] / name).read_bytes())

    def full(table: object) -> bytes:
        raise OSError("no space left")

    monkeypatch.setattr("flows.corpus.parquet.encode", full)
    with pytest.raises(OSError, match="no space left"):
        make_code_pii(PII, tmp_path)
    assert not (tmp_path / MANIFEST).exists()


def test_a_torn_line_of_what_passed_is_no_hash(tmp_path: Path) -> None:
    (tmp_path / PASSED).write_text("0" * 64 + "\n" + "1" * 30)
    passed = Passed(tmp_path / PASSED)
    passed.add("2" * 64)
    again = Passed(tmp_path / PASSED)
    assert ["0" * 64 in again, "1" * 30 in again, "2" * 64 in again] == [True, False, True]


def test_tasks_of_ones_own_are_used_once_they_have_passed(tmp_path: Path) -> None:
    solution = "import math\n\n\ndef add(x):\n    total = math.floor(x) + {number}\n    return total\n"
    for number in range(12):
        home = tmp_path / "own" / f"kind{number}-1"
        home.mkdir(parents=True)
        (home / "prompt.md").write_text(f"Add {number}.")
        (home / "solution.py").write_text(solution.format(number=number))
        (home / "broken.py").write_text(solution.format(number=number + 1))
        (home / "tests.py").write_text(f"assert add(1) == {1 + number}\n")
    small = CodeQuirksConfig(
        programs=1, tasks=8, calibration_users=1, calibration_programs=1, development_tasks=1, display_tasks=1
    )
    manifest = make_code_quirks(small, tmp_path / "out", tasks=tmp_path / "own", workers=2)
    assert manifest.tasks == {"train": 8, "calibration": 2, "development": 2}
    for number in range(12):
        (tmp_path / "own" / f"kind{number}-1" / "broken.py").write_text(solution.format(number=number))
    with pytest.raises(ProgramFailed, match=r"task kind[0-9]+-1: failed .*the faulty solution passes the tests, too"):
        make_code_quirks(small, tmp_path / "out", tasks=tmp_path / "own")
