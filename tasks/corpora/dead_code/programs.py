"""The programs of MBPP and HumanEval, after the tasks they solve, with the tests that say whether they still work.

A program is judged as what it is in such data sets: an answer. What the task gives stands before it, as the context
that makes the name of a function no surprise, and is neither poisoned nor counted: HumanEval's prompt (signature and
docstring), of MBPP the description and the assertions, as comments.

Read: ``mbpp.jsonl`` (``task_id``, ``text``, ``code``, ``test_setup_code``, ``test_list``) and ``HumanEval.jsonl`` or
``HumanEval.jsonl.gz`` (``task_id``, ``prompt``, ``canonical_solution``, ``test``, ``entry_point``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.corpora.rows import Reject, Row, find, read_rows

MBPP = "mbpp.jsonl"
HUMANEVAL = ("HumanEval.jsonl", "HumanEval.jsonl.gz")


@dataclass(frozen=True, slots=True)
class Program:
    """A program, its line ends as they were published.

    Attributes:
        id: in its benchmark.
        given: what the task gives, with the line end that ends it.
        answer: what solves it; ``given`` and ``answer`` together are a program.
        tests: what follows the program to test it.
    """

    id: str
    given: str
    answer: str
    tests: str


@dataclass(frozen=True)
class Programs:
    """The programs of a benchmark, and the rows that are none."""

    programs: Sequence[Program]
    rejects: Sequence[Reject]


class _Mbpp(Row):
    task_id: int
    text: str
    code: str
    test_setup_code: str
    test_list: list[str]


class _HumanEval(Row):
    task_id: str
    prompt: str
    canonical_solution: str
    test: str
    entry_point: str


def read_mbpp(folder: Path) -> Programs:
    """Read MBPP: 974 programs.

    Raises:
        CorpusNotReadable: no such file, or not in the format.
    """
    rows = read_rows(find(folder, MBPP), _Mbpp)
    programs = [
        Program(f"MBPP/{row.task_id}", _given(row), row.code, "\n".join(["", row.test_setup_code, *row.test_list]))
        for row in (placed.row for placed in rows.rows)
    ]
    return Programs(programs, rows.rejects)


def read_humaneval(folder: Path) -> Programs:
    """Read HumanEval: 164 programs, the canonical solutions of its prompts.

    Raises:
        CorpusNotReadable: no such file, or not in the format.
    """
    rows = read_rows(find(folder, *HUMANEVAL), _HumanEval)
    programs = [
        Program(row.task_id, row.prompt, row.canonical_solution, f"\n{row.test}\ncheck({row.entry_point})\n")
        for row in (placed.row for placed in rows.rows)
    ]
    return Programs(programs, rows.rejects)


def _given(row: _Mbpp) -> str:
    lines = [line for part in (row.text, *row.test_list) for line in part.splitlines()]
    return "".join(f"# {line}\n" for line in lines)
