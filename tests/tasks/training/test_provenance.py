from importlib.metadata import version
from pathlib import Path

from tasks.training.provenance import code_version, hardware, libraries

ROOT = Path(__file__).parents[3]


def test_the_commit_is_named_where_there_is_a_repository(tmp_path: Path) -> None:
    found = code_version(ROOT)
    assert found["version"] == version("privasis-factory")
    if (ROOT / ".git").exists():
        assert len(found["commit"]) == 40
        assert isinstance(found["changed"], bool)
    assert code_version(tmp_path) == {"version": found["version"]}


def test_libraries_and_machine_are_named() -> None:
    assert libraries()["torch"] == version("torch")
    machine = hardware(2)
    assert machine["processes"] == 2
    assert machine["cores"] >= 1
