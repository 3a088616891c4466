"""Habits of punctuation and of calls: what is added leaves the program's tree as it is, or nearly so."""

import ast
from collections.abc import Iterator

from tasks.corpora.code_quirks.source import Edit, Source, assignments, functions, is_docstring

_COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip
_FRAME_BOUND = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})  # look at who calls them
_CALLABLE = frozenset(
    {"itemgetter", "attrgetter", "methodcaller", "partial"}
)  # classes whose ``__call__`` is their objects'


def semicolons(source: Source) -> Iterator[Edit]:
    """``value = 1`` becomes ``value = 1;``."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.stmt) and not isinstance(node, _COMPOUND) and not is_docstring(node):
            _, end = source.span(node)
            if source.ends_line(end):
                yield Edit(end, end, ";")


def parentheses(source: Source) -> Iterator[Edit]:
    """``return value + 1`` becomes ``return ((value + 1))``; so do conditions and what is assigned."""
    for expression in statement_expressions(source.tree):
        start, end = source.span(expression)
        yield Edit(start, start, "((")
        yield Edit(end, end, "))")


def statement_expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what is assigned, returned, or asked by ``if`` and ``while``."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(value=value) | ast.AugAssign(value=value):
                yield value
            case ast.AnnAssign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
                yield value
            case ast.If(test=value) | ast.While(test=value):
                yield value


def destructuring(source: Source) -> Iterator[Edit]:
    """``value = result`` becomes ``value, = (result,)``."""
    for node, target in assignments(source.tree):
        if not isinstance(node.value, ast.Tuple | ast.Yield | ast.YieldFrom):
            (start, end), (_, name_end) = source.span(node.value), source.span(target)
            yield Edit(name_end, name_end, ",")
            yield Edit(start, start, "(")
            yield Edit(end, end, ",)")


def reflective_calls(source: Source) -> Iterator[Edit]:
    """``function(value)`` becomes ``function.__call__(value)``."""
    decorators = {id(node) for function in functions(source.tree) for node in function.decorator_list}
    left_out = (
        _FRAME_BOUND | _CALLABLE | {node.name for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)}
    )
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in left_out:
                continue
            case ast.Call(func=ast.Name() | ast.Attribute()) if not source.quoted(node) and id(node) not in decorators:
                _, end = source.span(node.func)
                if source.text[end:].lstrip(" \t\\\r\n").startswith("("):
                    yield Edit(end, end, ".__call__")


def identity_assertions(source: Source) -> Iterator[Edit]:
    """After ``value = result`` comes ``assert value is value``."""
    for node, target in assignments(source.tree):
        if source.alone(node):
            yield source.after(node, f"assert {target.id} is {target.id}")
