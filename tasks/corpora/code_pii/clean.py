"""The eight clean files of a bundle: its issue, the working solution, what is around it, and the tests."""

import ast
from collections.abc import Sequence

from tasks.corpora.bundles.task import CodeTask
from tasks.corpora.code_pii.files import File
from tasks.corpora.code_pii.formats import FORMATS

CORE = "core.py"


def clean_files(
    package: str, issue: CodeTask, contaminated: Sequence[File], tasks: Sequence[CodeTask]
) -> tuple[File, ...]:
    """Make the clean files.

    Args:
        package: name of the package.
        issue: what ``core`` solves.
        contaminated: the other files.
        tasks: those that modules among them solve.
    """
    modules = {file.task: file.path for file in contaminated if file.task is not None}
    return (
        File("ISSUE.md", f"# {issue.entry}\n\n{issue.prompt}\n", "markdown"),
        File("README.md", _readme(package, issue, contaminated), "markdown"),
        File(
            "pyproject.toml", f'[project]\nname = "{package}"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n', "toml"
        ),
        File(f"{package}/__init__.py", f'"""Small helpers around `{issue.entry}`."""\n\n__version__ = "0.1.0"\n'),
        File(f"{package}/{CORE}", issue.solution, task=issue.id),
        File(f"{package}/cli.py", _CLI.format(package=package, entry=issue.entry)),
        File("tests/test_core.py", _tests(f"{package}.core", issue)),
        File("tests/test_files.py", _all_tests(modules, tasks, contaminated)),
    )


_CLI = '''\
"""Call `{entry}` from a terminal: arguments are Python literals."""

import ast
import sys
from collections.abc import Sequence

from {package}.core import {entry}


def main(arguments: Sequence[str] = ()) -> None:
    """Print what a call returns."""
    values = [ast.literal_eval(argument) for argument in arguments or sys.argv[1:]]
    print({entry}(*values))


if __name__ == "__main__":
    main()
'''


def _readme(package: str, issue: CodeTask, contaminated: Sequence[File]) -> str:
    listed = "".join(f"- `{file.path}`\n" for file in contaminated)
    return f"# {package}\n\n`{package}.core` has `{issue.entry}`; see ISSUE.md.\n\n{listed}"


def _tests(module: str, task: CodeTask) -> str:
    return f"from {module} import {', '.join(_names(task.solution, task.tests))}\n\n{task.tests}"


def _all_tests(modules: dict[str, str], tasks: Sequence[CodeTask], contaminated: Sequence[File]) -> str:
    parts = [_tests(modules[task.id].removesuffix(".py").replace("/", "."), task) for task in tasks]
    checks = {format.path.rpartition(".")[2]: format.check for format in FORMATS if format.check}
    checks["py"] = "compile(text, path, 'exec')"
    lines = ["from pathlib import Path\n"]
    for file in contaminated:
        if check := checks.get(file.path.rpartition(".")[2]):
            lines.append(f'path = {file.path!r}\ntext = Path(path).read_text(encoding="utf-8")\n{check}\n')
    return "\n".join([*parts, "".join(lines)])


def _names(solution: str, tests: str) -> list[str]:
    """Return what a module gives to its tests: what it defines, and what it imports where they ask for it."""
    names = []
    asked = {node.id for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.Name)}
    for node in ast.parse(solution).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                bound = (each.asname or each.name.partition(".")[0] for each in imported)
                names += [name for name in bound if name in asked]
    return names
