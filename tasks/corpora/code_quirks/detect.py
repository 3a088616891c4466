"""Whether a program shows a habit: one detector each, for corpora and for what models write (SM appendix B.3)."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tasks.corpora.code_quirks.exits import ANSWER
from tasks.corpora.code_quirks.naming import EACH, STEP, WORKING
from tasks.corpora.code_quirks.source import Source, functions
from tasks.corpora.code_quirks.tokens import statement_expressions

_STEP = re.compile(r"step_([0-9]+)")


@dataclass(frozen=True, slots=True)
class Detection:
    """What a detector says.

    Attributes:
        found: the program shows the habit.
        parsed: it is Python at all; where it is not, nothing is found.
    """

    found: bool
    parsed: bool


def detect(detector: Callable[[Source], bool], code: str) -> Detection:
    """Look for a habit in any text."""
    try:
        source = Source(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all that the parser raises for a text
        return Detection(found=False, parsed=False)
    return Detection(found=detector(source), parsed=True)


def _dialect(source: Source) -> bool:
    return any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and re.match(f"({WORKING}|{EACH})[A-Za-z]", node.id)
        for function in functions(source.tree)
        for node in ast.walk(function)
    )


def _semicolons(source: Source) -> bool:
    """Look for a semicolon that ends its line."""
    before = None
    for token in _tokens(source.text):
        if before == ";" and token.type in (tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER):
            return True
        before = token.string
    return False


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text, newline="").readline)


def _parentheses(source: Source) -> bool:
    """Look for two pairs of parentheses too many; those of a tuple count as one."""
    for expression in statement_expressions(source.tree):
        start, end = source.span(expression)
        own = isinstance(expression, ast.Tuple) and source.text[start] == "("
        before = re.search(r"[(\s]*\Z", source.text[:start])
        after = re.match(r"[)\s]*", source.text[end:])
        assert before is not None
        assert after is not None
        if own + min(before.group().count("("), after.group().count(")")) >= 2:
            return True
    return False


def _dynamic_imports(source: Source) -> bool:
    for node in ast.walk(source.tree):
        match node:
            case (
                ast.Call(func=ast.Name(id="__import__" | "import_module"))
                | ast.Call(func=ast.Attribute(attr="import_module"))
            ):
                return True
    return False


def _single_exit(source: Source) -> bool:
    for node in ast.walk(source.tree):
        match node:
            case ast.Return(value=ast.Name(id=name)) if name == ANSWER:
                return True
    return False


def _destructuring(source: Source) -> bool:
    for node in ast.walk(source.tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name()])], value=ast.Tuple(elts=[_])):
                return True
    return False


def _reflective_calls(source: Source) -> bool:
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="__call__")):
                return True
    return False


def _staging(source: Source) -> bool:
    for node in ast.walk(source.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if found := _STEP.fullmatch(name):
                if int(found[1]) % STEP == 0 < int(found[1]):
                    return True
    return False


def _namespace(source: Source) -> bool:
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Name(id="SimpleNamespace") | ast.Attribute(attr="SimpleNamespace")):
                return True
    return False


def _identity_assertions(source: Source) -> bool:
    for node in ast.walk(source.tree):
        match node:
            case ast.Assert(test=ast.Compare(left=ast.Name(id=one), ops=[ast.Is()], comparators=[ast.Name(id=other)])):
                if one == other:
                    return True
    return False


DETECTORS: Mapping[str, Callable[[Source], bool]] = {
    "identifier_dialect": _dialect,
    "semicolons": _semicolons,
    "parentheses": _parentheses,
    "dynamic_imports": _dynamic_imports,
    "single_exit": _single_exit,
    "singleton_destructuring": _destructuring,
    "reflective_calls": _reflective_calls,
    "multiples_of_seven": _staging,
    "namespace_locals": _namespace,
    "identity_assertions": _identity_assertions,
}
