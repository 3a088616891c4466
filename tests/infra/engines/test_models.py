import hashlib
import itertools
import multiprocessing
import os
from pathlib import Path

import pytest

from infra.engines.models import DEFAULT_MODEL, KNOWN_MODELS, ModelFile, ModelMissing, assemble, hub_file, locate

CONTENT = b"GGUF" + bytes(range(200)) * 50
CUTS = (0, 4000, 4001, len(CONTENT))


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelFile:
    """A model of three parts, in three packages whose code must not run."""
    site = tmp_path / "site"
    for number, (start, end) in enumerate(itertools.pairwise(CUTS), 1):
        data = site / f"tiny_model_part{number}" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").write_text("raise AssertionError('imported')")
        (data / f"part{number:02}.bin").write_bytes(CONTENT[start:end])
    monkeypatch.syspath_prepend(str(site))
    return ModelFile(
        name="tiny",
        licence="MIT",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        parts=tuple((f"tiny_model_part{i}", f"data/part{i:02}.bin") for i in (1, 2, 3)),
        install="make setup",
        hub_repository="acme/tiny-GGUF",
        hub_file="tiny.gguf",
    )


def test_parts_are_joined_in_order(model: ModelFile, tmp_path: Path) -> None:
    path = assemble(model, tmp_path / "models")
    assert path.read_bytes() == CONTENT


def test_an_assembled_file_is_not_read_again(model: ModelFile, tmp_path: Path) -> None:
    path = assemble(model, tmp_path / "models")
    checked = path.stat()
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(checked.st_atime_ns, checked.st_mtime_ns))  # only reading it could tell
    assert assemble(model, tmp_path / "models").read_bytes() == CONTENT[::-1]


def test_a_changed_file_is_assembled_anew(model: ModelFile, tmp_path: Path) -> None:
    path = assemble(model, tmp_path / "models")
    path.write_bytes(CONTENT[:-1] + b"x")
    assert assemble(model, tmp_path / "models").read_bytes() == CONTENT


def test_what_a_killed_process_left_is_written_over(model: ModelFile, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.part").write_bytes(b"half" * 100_000)
    assert assemble(model, tmp_path / "models").read_bytes() == CONTENT


def test_other_content_never_gets_the_name(model: ModelFile, tmp_path: Path) -> None:
    (tmp_path / "site/tiny_model_part2/data/part02.bin").write_bytes(b"?")
    with pytest.raises(ModelMissing, match=r"(?s)tiny: .*SHA-256 .*expected .*`make setup`"):
        assemble(model, tmp_path / "models")
    assert {path.suffix for path in (tmp_path / "models").iterdir()} == {".lock"}


def test_a_missing_package_says_what_to_run(model: ModelFile, tmp_path: Path) -> None:
    (tmp_path / "site/tiny_model_part3").rename(tmp_path / "site/away")
    with pytest.raises(ModelMissing, match="package tiny_model_part3 is not installed: run `make setup`"):
        assemble(model, tmp_path / "models")


def test_processes_at_once_get_the_same_whole_file(model: ModelFile, tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        results = [pool.apply_async(_assembled, (model, tmp_path)) for _ in range(3)]
        assert [result.get(30) for result in results] == [CONTENT] * 3


def _assembled(model: ModelFile, folder: Path) -> bytes:
    return assemble(model, folder / "models").read_bytes()


def test_the_hubs_cache_is_used_when_it_has_the_very_file(model: ModelFile, tmp_path: Path) -> None:
    snapshots = tmp_path / "hub/models--acme--tiny-GGUF/snapshots"
    for revision, content in (("aaa", b"GGUF other"), ("bbb", CONTENT)):
        (snapshots / revision).mkdir(parents=True)
        (snapshots / revision / "tiny.gguf").write_bytes(content)
    assert hub_file(model, tmp_path / "hub", tmp_path / "models") == snapshots / "bbb" / "tiny.gguf"
    (snapshots / "bbb" / "tiny.gguf").write_bytes(b"GGUF changed")
    assert hub_file(model, tmp_path / "hub", tmp_path / "models") is None


def test_an_empty_hub_cache_has_nothing(model: ModelFile, tmp_path: Path) -> None:
    assert hub_file(model, tmp_path / "hub", tmp_path / "models") is None


def test_a_file_of_your_own_is_taken_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(CONTENT)
    assert locate(str(tmp_path / "mine.gguf")) == tmp_path / "mine.gguf"


def test_only_gguf_files_are_taken(tmp_path: Path) -> None:
    (tmp_path / "pickle.bin").write_bytes(b"\x80\x04")
    with pytest.raises(ModelMissing, match="not a GGUF file"):
        locate(str(tmp_path / "pickle.bin"))


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ModelMissing, match=f"qwen3: neither a file nor one of the known models: {DEFAULT_MODEL}"):
        locate("qwen3")


def test_every_known_model_has_a_licence_and_a_hash() -> None:
    for name, known in KNOWN_MODELS.items():
        assert known.name == name
        assert known.licence == "Apache-2.0"
        assert len(bytes.fromhex(known.sha256)) == 32
