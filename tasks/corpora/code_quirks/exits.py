"""The habit of one exit: results are kept in ``final_answer`` and returned at the end, once.

A function can be written so where every way through it ends in a return that no loop, ``with`` or ``try`` is around:
what follows an ``if`` whose branches all return becomes its ``else``.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tasks.corpora.code_quirks.source import Edit, Function, Source, first_line, functions

ANSWER = "final_answer"
_DEEPER = "    "


@dataclass
class _Rewrite:
    """What is to become of one or several functions.

    Attributes:
        returns: to be assignments.
        elses: first statement of what becomes an ``else``, and how much further in it stands than before.
        deeper: lines that move in, and by how many steps.
        ends: last statement of each function.
    """

    returns: list[ast.Return] = field(default_factory=list)
    elses: list[tuple[ast.stmt, int]] = field(default_factory=list)
    deeper: Counter[int] = field(default_factory=Counter)
    ends: list[ast.stmt] = field(default_factory=list)


def single_exit(source: Source) -> Iterator[Edit]:
    """``return value`` becomes ``final_answer = value``, and ``return final_answer`` ends the function."""
    plan = _Rewrite()
    for function in functions(source.tree):
        if _can_be_rewritten(source, function):
            _plan(function.body, plan, depth=0)
            plan.ends.append(function.body[-1])
    for statement, _ in plan.elses:
        if source.indentation(statement).strip():
            return
    yield from _edits(source, plan)


def _edits(source: Source, plan: _Rewrite) -> Iterator[Edit]:
    before = {first_line(statement): (source.indentation(statement), depth) for statement, depth in plan.elses}
    for line in sorted(plan.deeper):
        place = source.line_start(line)
        if line in before:
            indentation, depth = before[line]
            yield Edit(place, place, "else:", lead=indentation + _DEEPER * depth, tail=source.newline)
        if source.line_end(place) > place:
            yield Edit(place, place, "", lead=_DEEPER * plan.deeper[line])
    for node in plan.returns:
        start, end = source.span(node)
        keyword_end = start + len("return")
        yield Edit(start, keyword_end if node.value else end, f"{ANSWER} =" if node.value else f"{ANSWER} = None")
    for statement in plan.ends:
        yield source.after(statement, f"return {ANSWER}")


def _can_be_rewritten(source: Source, function: Function) -> bool:
    last = function.body[-1]
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own(function.body)):
        return False
    nested = any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in _own(function.body)
    )
    strings = (node for node in _own(function.body) if isinstance(node, ast.Constant | ast.JoinedStr))
    torn = any(
        node.lineno != node.end_lineno for node in strings if node is not getattr(function.body[0], "value", None)
    )
    whole = not source.indentation(function.body[0]).strip() and source.ends_line(source.span(last)[1])
    return whole and not nested and not torn and _always_returns(function.body)


def _always_returns(block: Sequence[ast.stmt]) -> bool:
    """Tell whether every way through a block ends in a return that can become an assignment."""
    for place, statement in enumerate(block):
        rest = block[place + 1 :]
        match statement:
            case ast.Return():
                return not rest
            case ast.If() if _has_return(statement):
                if rest:
                    return _branches_return(statement) and _always_returns(rest)
                return _always_returns(statement.body) and _always_returns(statement.orelse)
            case _ if _has_return(statement):
                return False
    return False


def _branches_return(statement: ast.If) -> bool:
    """Tell whether all branches of an ``if`` return, and there is no ``else``."""
    if not _always_returns(statement.body):
        return False
    match statement.orelse:
        case []:
            return True
        case [ast.If() as branch] if branch.col_offset == statement.col_offset:  # an elif
            return _branches_return(branch)
        case _:
            return False


def _plan(block: Sequence[ast.stmt], plan: _Rewrite, depth: int) -> None:
    for place, statement in enumerate(block):
        match statement:
            case ast.Return():
                plan.returns.append(statement)
            case ast.If() if _has_return(statement):
                _plan(statement.body, plan, depth)
                _plan(statement.orelse, plan, depth)
                if rest := block[place + 1 :]:
                    assert rest[-1].end_lineno is not None
                    plan.elses.append((rest[0], depth))
                    plan.deeper.update(range(first_line(rest[0]), rest[-1].end_lineno + 1))
                    _plan(rest, plan, depth + 1)
                    return


def _has_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in _own([statement]))


def _own(block: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of a block, but not what is inside the functions and classes in it."""
    waiting: list[ast.AST] = list(block)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
