"""A corpus whose folder is in an object store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.corpus import MANIFEST, PASSED, CorpusManifest
from infra.shards import files
from infra.shards.location import ObjectPath
from tests.infra.shards import object_store
from tests.infra.shards.object_store import BUCKET, Store

FOLDER = ObjectPath(BUCKET, "corpora/quirks")
COMMAND = [
    "corpus", "code-quirks", "-o", str(FOLDER), "--programs", "1", "--task-limit", "9", "--calibration-users", "1",
    "--calibration-programs", "1", "--development-tasks", "2", "--display-tasks", "1", "--workers", "2",
]  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Store]:
    with object_store.served() as server:
        object_store.use(server, monkeypatch, tmp_path / "scratch")
        yield server
        object_store.forget()


def test_it_is_written_there_and_what_has_passed_stays_on_this_machine(server: Store) -> None:
    for _ in range(2):
        made = CliRunner().invoke(app, COMMAND)
        assert made.exit_code == 0, made.output
    manifest = CorpusManifest.model_validate_json(files.read(FOLDER / MANIFEST) or b"")
    for name, record in manifest.files.items():
        assert files.sha256(files.read(FOLDER / name) or b"") == record.sha256, name
    assert files.names(FOLDER) == ["chats", "display.parquet", "documents", MANIFEST, "tasks.parquet"]
    assert len((files.here(FOLDER) / PASSED).read_text(encoding="ascii").split()) > 9
    other = CliRunner().invoke(app, ["corpus", "code-pii", "-o", str(FOLDER)])
    assert (other.exit_code, "holds a corpus 'code-quirks': give another folder" in other.stderr) == (2, True)


def test_a_bucket_that_is_not_there_is_told_before_programs_run(server: Store) -> None:
    asked = CliRunner().invoke(app, ["corpus", "code-pii", "-o", "s3://elsewhere/corpus"])
    assert asked.exit_code != 0
    assert "there is no such bucket: create it, or correct the root" in asked.stderr
