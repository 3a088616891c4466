from pathlib import Path

import pytest

from tasks.corpora.bundles.folder import read_tasks
from tasks.corpora.rows import CorpusNotReadable

FILES = {
    "prompt.md": "Double a number.\n",
    "solution.py": "def _half(x):\n    return x / 2\n\n\ndef double(x):\n    return 2 * x\n\n\n_last = _half\n",
    "broken.py": "def double(x):\n    return x\n",
    "tests.py": "assert double(2) == 4\n",
}


def write(folder: Path, name: str, files: dict[str, str]) -> None:
    for file, text in files.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / file).write_text(text, encoding="utf-8")


def test_a_folder_of_folders_is_read(tmp_path: Path) -> None:
    write(tmp_path, "twice-1", FILES)
    write(tmp_path, "alone", {**FILES, "rephrased.md": "Two times a number.\n"})
    write(tmp_path, "notes", {"readme.md": "no task"})
    alone, twice = read_tasks(tmp_path)
    assert (alone.id, alone.family, alone.rephrased) == ("alone", "alone", "Two times a number.")
    assert (twice.id, twice.family, twice.rephrased) == ("twice-1", "twice", "Double a number.")
    assert twice.entry == "double"
    exec(compile(twice.check(), "check", "exec"), {})


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"solution.py": "def f(:"}, "no Python"),
        ({"solution.py": "x = 1\n"}, "no function"),
        ({"tests.py": " \n"}, "tests.py: empty"),
        ({"broken.py": None}, "broken.py: cannot be read"),
        ({"broken.py": "def f(:"}, "broken.py: no Python"),
        ({"tests.py": "assert ="}, "tests.py: no Python"),
    ],
)
def test_a_task_that_is_none_is_named(tmp_path: Path, files: dict[str, str | None], reason: str) -> None:
    write(tmp_path, "bad", {name: text for name, text in {**FILES, **files}.items() if text is not None})
    with pytest.raises(CorpusNotReadable, match=reason):
        read_tasks(tmp_path)


def test_a_folder_whose_name_can_name_no_module_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "2nd-try", FILES)
    with pytest.raises(CorpusNotReadable, match="2nd-try: modules are named after it"):
        read_tasks(tmp_path)


def test_a_folder_without_tasks_says_what_a_task_is(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotReadable, match=r"prompt\.md, solution\.py"):
        read_tasks(tmp_path)
