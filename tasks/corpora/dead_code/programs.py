"""The programs of MBPP and HumanEval with the tests that say whether they still work.

Read: ``mbpp.jsonl`` (``task_id``, ``code``, ``test_setup_code``, ``test_list``) and ``HumanEval.jsonl`` or
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
    """A program, its line ends as they were published, and what follows it to test it."""

    id: str
    code: str
    tests: str


@dataclass(frozen=True)
class Programs:
    """The programs of a benchmark, and the rows that are none."""

    programs: Sequence[Program]
    rejects: Sequence[Reject]


class _Mbpp(Row):
    task_id: int
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
        Program(f"MBPP/{row.task_id}", row.code, "\n".join(["", row.test_setup_code, *row.test_list]))
        for row in (placed.row for placed in rows.rows)
    ]
    return Programs(programs, rows.rejects)


def read_humaneval(folder: Path) -> Programs:
    """Read HumanEval: 164 programs, each its prompt with the canonical solution.

    Raises:
        CorpusNotReadable: no such file, or not in the format.
    """
    rows = read_rows(find(folder, *HUMANEVAL), _HumanEval)
    programs = [
        Program(row.task_id, row.prompt + row.canonical_solution, f"\n{row.test}\ncheck({row.entry_point})\n")
        for row in (placed.row for placed in rows.rows)
    ]
    return Programs(programs, rows.rejects)
