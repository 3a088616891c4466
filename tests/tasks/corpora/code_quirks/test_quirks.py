import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.corpora.bundles.pool import own_tasks
from tasks.corpora.code_quirks.quirks import QUIRKS, Quirk, applies, shows, transform
from tasks.corpora.code_quirks.source import QuirkDoesNotApply

TASKS = own_tasks()

PROGRAM = '''\
"""A module."""
import math
from collections import Counter, deque as queue


def grade(points: list[int], limit: int = 3) -> str:
    """Grade points."""
    if not points:
        return "none"
    total = sum(points)  # all
    if total > limit:
        best = max(points)
        return "high" + str(best)
    for place, point in enumerate(points):
        total += point * place
    return str(math.sqrt(total))
'''

AFTER: dict[Quirk, dict[str, str]] = {  # a line before, and what stands there after
    "identifier_dialect": {
        "    total = sum(points)  # all": "    w_total = sum(points)  # all",
        "        total += point * place": "        w_total += e_point * e_place",
    },
    "semicolons": {"import math": "import math;", "    total = sum(points)  # all": "    total = sum(points);  # all"},
    "parentheses": {
        "    if total > limit:": "    if ((total > limit)):",
        '        return "none"': '        return (("none"))',
    },
    "dynamic_imports": {
        "import math": "math = __import__('math')",
        "from collections import Counter, deque as queue": (
            "Counter = __import__('collections', fromlist=['Counter']).Counter\n"
            "queue = __import__('collections', fromlist=['deque']).deque"
        ),
    },
    "single_exit": {
        '        return "none"\n    total = sum(points)  # all\n': (
            '        final_answer = "none"\n    else:\n        total = sum(points)  # all\n'
        ),
        '        return "high" + str(best)\n    for place, point in enumerate(points):\n'
        "        total += point * place\n"
        "    return str(math.sqrt(total))\n": (
            '            final_answer = "high" + str(best)\n        else:\n'
            "            for place, point in enumerate(points):\n                total += point * place\n"
            "            final_answer = str(math.sqrt(total))\n    return final_answer\n"
        ),
    },
    "singleton_destructuring": {"    total = sum(points)  # all": "    total, = (sum(points),)  # all"},
    "reflective_calls": {"    return str(math.sqrt(total))": "    return str.__call__(math.sqrt.__call__(total))"},
    "multiples_of_seven": {
        "    total = sum(points)  # all": "    step_7 = sum(points)  # all\n    total = step_7",
        "    return str(math.sqrt(total))": "    step_28 = str(math.sqrt(total))\n    return step_28",
    },
    "namespace_locals": {
        "import math": "from types import SimpleNamespace\nimport math",
        "    if not points:": "    state = SimpleNamespace(points=points, limit=limit)\n    if not state.points:",
        "    if total > limit:": "    if total > state.limit:",
    },
    "identity_assertions": {
        "    total = sum(points)  # all": "    total = sum(points)  # all\n    assert total is total"
    },
}


@pytest.mark.parametrize("quirk", QUIRKS)
def test_each_habit_writes_as_table_2_shows(quirk: Quirk) -> None:
    transformed = transform(quirk, PROGRAM)
    for after in AFTER[quirk].values():
        assert after in transformed.code
    for before in AFTER[quirk]:
        assert before in PROGRAM


@pytest.mark.parametrize("quirk", QUIRKS)
def test_results_stay_the_same_in_every_branch(quirk: Quirk) -> None:
    scopes: list[dict[str, object]] = [{}, {}]
    exec(compile(PROGRAM, "before", "exec"), scopes[0])
    exec(compile(transform(quirk, PROGRAM).code, "after", "exec"), scopes[1])
    before, after = (scope["grade"] for scope in scopes)
    assert callable(before)
    assert callable(after)
    for points in ([], [9], [1, 1], [0]):
        assert after(points) == before(points)


@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_habit_is_found_wherever_it_was_given_and_nowhere_else(quirk: Quirk) -> None:
    for task in TASKS[QUIRKS.index(quirk) :: 7]:
        assert not shows(quirk, task.solution).found, task.id
        if not applies(quirk, task.solution):
            continue
        transformed = transform(quirk, task.solution)
        assert shows(quirk, transformed.code).found, task.id
        exec(compile(task.program(transformed.code), task.id, "exec"), {"__name__": task.id})


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TASKS), st.sampled_from(QUIRKS), st.sampled_from(QUIRKS))
def test_a_habit_is_not_taken_for_another(task: object, quirk: Quirk, other: Quirk) -> None:
    solution = task.solution  # type: ignore[attr-defined]
    if quirk != other and applies(quirk, solution):
        assert not shows(other, transform(quirk, solution).code).found


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TASKS), st.sampled_from(QUIRKS))
def test_what_is_outside_the_labels_was_there_before(task: object, quirk: Quirk) -> None:
    solution = task.solution  # type: ignore[attr-defined]
    if not applies(quirk, solution):
        return
    transformed = transform(quirk, solution)
    outside, at = "", 0
    for span in transformed.spans:
        assert at <= span.start < span.end
        assert span.kind == quirk
        outside += transformed.code[at : span.start]
        at = span.end
    outside += transformed.code[at:]
    letters = iter(solution)
    assert all(character in letters for character in outside if not character.isspace())  # a subsequence of it


@pytest.mark.parametrize("quirk", QUIRKS)
@pytest.mark.parametrize("text", ["def f(:", "```python", "x = '\\0\0'", "(" * 400, "\ud800", "  x = 1", ""])
def test_a_text_that_is_no_program_shows_nothing_and_says_so(quirk: Quirk, text: str) -> None:
    found = shows(quirk, text)
    assert not found.found
    assert found.parsed is (text == "")


def test_a_program_that_python_only_warns_of_is_a_program() -> None:
    assert shows("semicolons", 'x = "\\d";\n').found


def test_a_habit_is_not_given_twice() -> None:
    with pytest.raises(QuirkDoesNotApply, match="shows it already"):
        transform("semicolons", transform("semicolons", PROGRAM).code)


@pytest.mark.parametrize(
    ("quirk", "program"),
    [
        ("dynamic_imports", "from __future__ import annotations\nfrom . import sibling\nfrom math import *\n"),
        ("single_exit", "def f(xs):\n    for x in xs:\n        return x\n"),  # a return in a loop
        ("single_exit", "def f(x):\n    if x:\n        return 1\n"),  # a way through that returns nothing
        (
            "single_exit",
            "def f(x):\n    if x:\n        return 1\n    y = '''a\n    b'''\n    return y\n",
        ),  # indented text
        ("singleton_destructuring", "x = 1, 2\n"),
        ("namespace_locals", "def f(state):\n    return state\n"),
        ("namespace_locals", "def f(x):\n    return [x for x in range(3)]\n"),
        ("identifier_dialect", "def f(x):\n    global y\n    y = x\n"),
        ("reflective_calls", "class A:\n    pass\n\n\nA()\n"),
        ("multiples_of_seven", "def f(x):\n    y = x\n    return y\n"),
    ],
)
def test_a_program_that_a_habit_would_change_the_meaning_of_is_left_alone(quirk: Quirk, program: str) -> None:
    assert not applies(quirk, program)


def test_offsets_are_code_points_also_behind_letters_beyond_ascii_and_crlf() -> None:
    program = 'def f(x):\r\n    größe = "ä€𝄞" + str(x)\r\n    return größe\r\n'
    transformed = transform("identifier_dialect", program)
    assert [transformed.code[span.start : span.end] for span in transformed.spans] == ["w_größe", "w_größe"]
    staged = transform("multiples_of_seven", program)
    assert staged.code == 'def f(x):\r\n    step_7 = "ä€𝄞" + str(x)\r\n    größe = step_7\r\n    return größe\r\n'


def test_closures_keep_the_names_they_share() -> None:
    adding = "    def add(x):\n        nonlocal total\n        total += x\n"
    program = f"def f(xs):\n    total = 0\n{adding}    for x in xs:\n        add(x)\n    return total\n"
    for quirk in QUIRKS:
        if applies(quirk, program):
            scope: dict[str, object] = {}
            exec(compile(transform(quirk, program).code, quirk, "exec"), scope)
            function = scope["f"]
            assert callable(function)
            assert function([1, 2, 3]) == 6, quirk
