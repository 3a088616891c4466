"""Reads tasks of somebody's own: a folder for each.

    TASKS/<task>/prompt.md       what is asked for
    TASKS/<task>/rephrased.md    the same in other words; the prompt again where there is none
    TASKS/<task>/solution.py     a module that passes
    TASKS/<task>/broken.py       one that fails
    TASKS/<task>/tests.py        statements that follow a solution in its module

A family is what stands before the last hyphen of a folder's name. Tasks may import what is installed.
"""

import ast
import re
from pathlib import Path

from tasks.corpora.bundles.task import CodeTask
from tasks.corpora.rows import CorpusNotReadable

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def read_tasks(folder: Path) -> list[CodeTask]:
    """Read all tasks of a folder, by name.

    Raises:
        CorpusNotReadable: there is none, or one lacks a file or is no Python; it names the file.
    """
    homes = sorted(home for home in folder.glob("*/") if (home / "solution.py").is_file())
    if not homes:
        raise CorpusNotReadable(
            f"{folder}: no tasks: each is a folder with prompt.md, solution.py, broken.py, tests.py"
        )
    return [_task(home) for home in homes]


def _task(home: Path) -> CodeTask:
    if not _NAME.fullmatch(home.name):
        raise CorpusNotReadable(f"{home}: modules are named after it: letters, digits, _ and -, a letter first")
    prompt, solution, broken, tests = (_text(home / n) for n in ("prompt.md", "solution.py", "broken.py", "tests.py"))
    for name, code in (("broken.py", broken), ("tests.py", tests)):
        _parsed(home / name, code)
    rephrased = _text(home / "rephrased.md") if (home / "rephrased.md").exists() else prompt
    return CodeTask(
        id=home.name,
        family=home.name.rpartition("-")[0] or home.name,
        prompt=prompt.strip(),
        rephrased=rephrased.strip(),
        entry=_entry(home / "solution.py", solution),
        solution=solution,
        broken=broken,
        tests=tests,
    )


def _entry(path: Path, solution: str) -> str:
    functions = [
        node.name for node in _parsed(path, solution).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
    ]
    if not functions:
        raise CorpusNotReadable(f"{path}: no function at its top whose name has no underscore before it")
    return functions[-1]


def _parsed(path: Path, code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError) as error:  # ValueError: a NUL
        raise CorpusNotReadable(f"{path}: no Python: {error}") from error


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusNotReadable(f"{path}: cannot be read: {error}") from error
    if not text.strip():
        raise CorpusNotReadable(f"{path}: empty")
    return text
