from dataclasses import replace

import pytest

from tasks.corpora.bundles.task import CodeTask, code_of, fenced, shape

TASK = CodeTask(
    "t-0",
    "t",
    "Double it.",
    "Twice it.",
    "f",
    "def f(x):\n    return 2 * x\n",
    "def f(x):\n    return x\n",
    "assert f(3) == 6\n",
)


@pytest.mark.parametrize("code", ["x = 1\n", "x = 1", "def f():\n    return '```'\n", ""])
def test_code_survives_its_fence(code: str) -> None:
    assert code_of(fenced(code)).rstrip("\n") == code.rstrip("\n")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("Here:\n```python\na = 1\n```\nand\n```\nb = 2\n```", "a = 1\n"),
        ("```python\na = 1\nb =", "a = 1\nb ="),  # cut off before the fence closed
        ("a = 1\n", "a = 1\n"),
        ("```\r\na = 1\r\n```", "a = 1\r\n"),
        ("```python3\na = 1\n```", "a = 1\n"),
        ("Sure:\n```Python 3.11\na = 1\n```\nDone", "a = 1\n"),
        ('```{.py title="a.py"}\na = 1\n```', "a = 1\n"),
        ("```python3\na = 1\nb =", "a = 1\nb ="),
        ('```py\n"""\n    ```\n    x\n    ```\n"""\n```', '"""\n    ```\n    x\n    ```\n"""\n'),
    ],
)
def test_the_code_of_an_answer_is_its_first_block(answer: str, code: str) -> None:
    assert code_of(answer) == code


def test_a_check_ends_well_only_if_the_solution_passes_and_the_faulty_one_fails() -> None:
    exec(compile(TASK.check(), "check", "exec"), {})
    same = CodeTask("t-1", "t", "", "", "f", TASK.solution, TASK.solution, TASK.tests)
    with pytest.raises(AssertionError, match="faulty"):
        exec(compile(same.check(), "check", "exec"), {})
    broken = CodeTask("t-3", "t", "", "", "f", TASK.solution, "def f(:\n", TASK.tests)
    with pytest.raises(AssertionError, match="the faulty solution is no Python: invalid syntax"):
        exec(compile(broken.check(), "check", "exec"), {})
    swapped = CodeTask("t-2", "t", "", "", "f", TASK.broken, TASK.solution, TASK.tests)
    with pytest.raises(AssertionError):
        exec(compile(swapped.check(), "check", "exec"), {})


def test_a_solution_may_have_dataclasses_whose_annotations_are_texts() -> None:
    head = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    x: int\n"
    )
    exec(compile(replace(TASK, solution=f"{head}\n\n{TASK.solution}").check(), "check", "exec"), {})


def test_names_docstrings_and_layout_are_not_the_shape_of_a_program_but_constants_are() -> None:
    one = 'def f(a):\n    """Say."""\n    b = a + 1\n    return len(b)\n'
    assert shape(one) == shape("def g( x ):\n    y = (x + 1)  # so\n    return len(y)\n")
    assert shape(one) != shape("def f(a):\n    b = a + 2\n    return len(b)\n")
    assert shape(one) != shape("def f(a):\n    b = a + 1\n    return max(b)\n")
