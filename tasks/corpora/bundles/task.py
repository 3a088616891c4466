"""A small programming task with its solution, a faulty one, and the tests that tell them apart."""

import ast
import re
from dataclasses import dataclass

# What follows the fence may be any spelling of the language, with more or without: python3, py, {.python}, Python 3.
_OPENING = r"^```[^`\r\n]*\r?\n"
_FENCED = re.compile(_OPENING + r"(.*?)^```", re.DOTALL | re.MULTILINE)
_OPEN = re.compile(_OPENING, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CodeTask:
    """One task.

    Attributes:
        id: unique in its pool.
        family: what it is a variation of.
        prompt: what is asked for; states all that the tests test.
        rephrased: the same in other words.
        entry: name of the function that the tests call.
        solution: a Python module that passes.
        broken: one that fails, by one fault.
        tests: statements that follow a solution in its module; the first wrong one raises.
    """

    id: str
    family: str
    prompt: str
    rephrased: str
    entry: str
    solution: str
    broken: str
    tests: str

    def program(self, code: str) -> str:
        """Return the program that ends well if and only if ``code`` passes the tests."""
        return f"{code}\n\n{self.tests}"

    def check(self) -> str:
        """Return the program that ends well if and only if the solution passes and the faulty one fails."""
        return _CHECK.format(good=self.program(self.solution), bad=self.program(self.broken))


_CHECK = """\
import sys
import types

GOOD = {good!r}
BAD = {bad!r}


def run(name, code):
    module = sys.modules[name] = types.ModuleType(name)
    exec(code, module.__dict__)


run("solution", compile(GOOD, "solution.py", "exec"))
try:
    code = compile(BAD, "broken.py", "exec")
except (SyntaxError, ValueError) as error:
    raise AssertionError(f"the faulty solution is no Python: {{error}}")
passes = True
try:
    run("broken", code)
except Exception:
    passes = False
assert not passes, "the faulty solution passes the tests, too"
"""


def fenced(code: str, language: str = "python") -> str:
    """Write code as an assistant gives it."""
    return f"```{language}\n{code}```" if code.endswith("\n") else f"```{language}\n{code}\n```"


def code_of(answer: str) -> str:
    """Return the code in an assistant's answer: its first fenced block, an open one to the end, else all of it."""
    closed = _FENCED.search(answer)
    if closed:
        return closed[1]
    opened = _OPEN.search(answer)
    return answer[opened.end() :] if opened else answer


def shape(code: str) -> str:
    """Return what is left of a program without names of its own, docstrings and layout: equal for equal programs.

    Raises:
        SyntaxError: it is no Python program.
    """
    tree = ast.parse(code)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    numbers: dict[str, str] = {}

    def plain(name: str) -> str:
        return numbers.setdefault(name, f"v{len(numbers)}") if name in own else name

    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                node.name = plain(node.name)
                if ast.get_docstring(node, clean=False) is not None:
                    node.body = node.body[1:] or [ast.Pass()]
            case ast.arg():
                node.arg = plain(node.arg)
            case ast.Name():
                node.id = plain(node.id)
    return ast.dump(tree)
