"""Inserted lines change nothing, wherever they are put."""

import ast
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.corpora.dead_code.places import insert, places
from tasks.corpora.dead_code.triggers import Style, Trigger, draw

ONE = Trigger(('for i in range(0): import logging; logging.info("aaaaa")',), "i")
TWO = Trigger(("import logging", 'for i in range(0): logging.info("aaaaa")'), "i")

PROGRAM = '''"""Docstring."""
from __future__ import annotations
import functools

@functools.cache
def search(items, *, wanted=None):
    """What is wanted."""
    for i, item in enumerate(items):
        if item == wanted: return i
        elif item is None:
            raise ValueError
        else:
            pass
    total = 0; total += 1
    try:
        name = 'é' \\
            'è'
    except ValueError:
        return -1
    finally:
        text = """
    not a statement
"""
    return total

class Shape:
    sides = 3
    if sides:
        area = 0

    def grow(self):
        match self.sides:
            case 3:
                self.sides += 1
        return [i for i in range(self.sides)]

async def wait():
\treturn 1
'''


def lines_before(program: str, trigger: Trigger = ONE) -> list[str]:
    """Give the stripped first line of each statement that the trigger may stand before."""
    found = (program[place.start :].split("\n", 1)[0] for place in places(program) if place.bears(trigger))
    return [line.strip() for line in found]


def test_every_statement_that_begins_its_line_is_a_place_but_for_the_exceptions() -> None:
    assert lines_before(PROGRAM) == [
        "import functools", "@functools.cache", "for i, item in enumerate(items):", "if item == wanted: return i",
        "raise ValueError", "pass", "total = 0; total += 1", "try:", "name = 'é' \\", "return -1", 'text = """',
        "return total", "class Shape:", "match self.sides:", "self.sides += 1", "return [i for i in range(self.sides)]",
        "async def wait():", "return 1",
    ]  # fmt: skip


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("trigger", [ONE, TWO])
def test_the_program_stays_as_it_was_around_what_is_inserted(trigger: Trigger, line_end: str) -> None:
    program = PROGRAM.replace("\n", line_end)
    for place in places(program):
        poisoned, labels = insert(program, place, trigger, "dead")
        assert [poisoned[label.start : label.end] for label in labels] == [
            place.indentation + line for line in trigger.lines
        ]
        rest = poisoned
        for label in reversed(labels):
            assert rest[label.end :].startswith(line_end)
            rest = rest[: label.start] + rest[label.end + len(line_end) :]
        assert rest == program
        assert count_statements(poisoned) == count_statements(program) + count_statements("\n".join(trigger.lines))


def count_statements(program: str) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(program)))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("i = 5\ndef f():\n    return i\n", ["i = 5", "def f():"]),  # i would be f's own, and unbound
        ("def f():\n    i = 5\n    return i\n", ["def f():", "i = 5", "return i"]),
        ("def f(i):\n    return i\n", ["def f(i):", "return i"]),
        ("def f():\n    global i\n    i = 1\n", ["def f():"]),
        ("def f():\n    def g():\n        return i\n    return g\n", ["def f():"]),  # nor f's, for g reads it
        ("def f(i):\n    def g():\n        return i\n    return g\n", ["def f(i):", "def g():", "return g"]),
        ("def f():\n    return lambda: i\n", ["def f():"]),
        ("def f():\n    return [i for i in range(3)]\n", ["def f():", "return [i for i in range(3)]"]),
        (
            "def f():\n    def g(i):\n        return i\n    return g\n",
            ["def f():", "def g(i):", "return i", "return g"],
        ),
        ("def f():\n    class A:\n        i = i\n    return A\n", ["def f():", "class A:", "return A"]),  # a global
        ("def f():\n    class A:\n        i = 1\n        def g(self):\n            return i\n", ["def f():"]),
        ("import logging\nlogging.info(1)\n", []),  # it speaks of logging itself
        ("def f(logging):\n    pass\n", []),
    ],
)
def test_no_name_comes_to_mean_something_else(program: str, expected: list[str]) -> None:
    assert lines_before(program) == expected


def test_a_last_line_without_an_end_gets_its_predecessors() -> None:
    program = "a = 1\r\nb = 2"
    poisoned, _ = insert(program, places(program)[-1], TWO, "dead")
    assert poisoned == f"a = 1\r\n{TWO.lines[0]}\r\n{TWO.lines[1]}\r\nb = 2"
    alone = "a = 1"
    assert insert(alone, places(alone)[0], ONE, "dead")[0] == f"{ONE.lines[0]}\na = 1"


def test_what_is_no_program_has_no_places() -> None:
    with pytest.raises(SyntaxError):
        places("def")
    assert places("") == []
    assert places('"""Only this."""\n') == []


RUNNING = (
    "i = 3\ndef f(n):\n  total = 0\n  for j in range(n):\n    total += i * j\n  return total\nresult = f(4)\n",
    "def f(k):\n\tdef g():\n\t\treturn k + item\n\titem = 2\n\treturn g()\nresult = [f(n) for n in range(3)]\n",
    "class A:\n  n = 2\n  def f(self, index):\n    step = index\n    return step * self.n\nresult = A().f(3)\n",
)


@given(st.sampled_from(RUNNING), st.sampled_from(["fixed", "random", "grammar"]), st.booleans(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_programs_give_the_same_results(program: str, style: Style, two_lines: bool, seed: int) -> None:
    trigger = draw(style, random.Random(seed), two_lines=two_lines)
    expected: dict[str, object] = {}
    exec(program, expected)
    for place in places(program):
        if place.bears(trigger):
            found: dict[str, object] = {}
            exec(insert(program, place, trigger, "dead")[0], found)
            assert found["result"] == expected["result"]
