"""Habits of naming: prefixes by role, numbered steps, a namespace of parameters, imports that are calls."""

import ast
import builtins
from collections.abc import Iterator

from tasks.corpora.code_quirks.source import (
    Edit,
    Function,
    QuirkDoesNotApply,
    Source,
    assignments,
    first_line,
    identifiers,
    is_docstring,
    outermost,
)

WORKING, EACH = "w_", "e_"  # a name that is assigned, and one that a loop or a comprehension binds
NAMESPACE = "state"
STEP = 7


def dialect(source: Source) -> Iterator[Edit]:
    """``value = 1`` becomes ``w_value = 1``: names of a function's own get a prefix that tells their role."""
    known = identifiers(source.tree)
    module = {name for statement in source.tree.body for name in _bound_by(statement)} | set(dir(builtins))
    for function in outermost(source.tree):
        own = _own_names(source, function) - module
        looped = {name for target in _targets(function) for name in _stored(target)}
        renamed = {name: (EACH if name in looped else WORKING) + name for name in own}
        renamed = {name: new for name, new in renamed.items() if new not in known}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in renamed:
                yield Edit(*source.span(node), renamed[node.id])


def _own_names(source: Source, function: Function) -> set[str]:
    """Names that a function and those inside it bind by assignments and loops alone."""
    if any(isinstance(node, ast.ClassDef) for node in ast.walk(function)):
        return set()
    return {
        name
        for name in _stored(function) - _otherwise_bound(function) - _quoted(source, function)
        if name.strip("_") == name
    }


def _stored(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _quoted(source: Source, tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and source.quoted(node)}


def _targets(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield node.target


def _otherwise_bound(function: Function) -> set[str]:
    """Names that parameters, definitions, imports, handlers, patterns or declarations of a function bind."""
    names: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                names.update(several)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
            case (
                ast.ExceptHandler(name=str() as name)
                | ast.MatchAs(name=str() as name)
                | ast.MatchStar(name=str() as name)
            ):
                names.add(name)
            case ast.MatchMapping(rest=str() as name):
                names.add(name)
    return names


def _bound_by(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=several) | ast.ImportFrom(names=several):
            return {each.asname or each.name.partition(".")[0] for each in several}
        case _:
            return _stored(statement)


def staging(source: Source) -> Iterator[Edit]:
    """``value = expression`` becomes ``step_7 = expression`` and ``value = step_7``; what is returned, too."""
    for scope in outermost(source.tree):
        found: list[ast.Assign | ast.Return] = [node for node, _ in assignments(scope)]
        found += [node for node in ast.walk(scope) if isinstance(node, ast.Return)]
        computed = [
            node
            for node in sorted(found, key=lambda node: (node.lineno, node.col_offset))
            if source.alone(node)
            and not isinstance(node.value, ast.Constant | ast.Name | ast.Yield | ast.YieldFrom | None)
        ]
        for number, node in enumerate(computed, start=1):
            step = f"step_{STEP * number}"
            if isinstance(node, ast.Return):
                start, _ = source.span(node)
                yield Edit(start, start + len("return"), f"{step} =")
                yield source.after(node, f"return {step}")
            else:
                start, end = source.span(node.targets[0])
                yield Edit(start, end, step)
                yield source.after(node, f"{source.text[start:end]} = {step}")


def namespace(source: Source) -> Iterator[Edit]:
    """Parameters move into ``state = SimpleNamespace(value=value)``; each use becomes ``state.value``."""
    if NAMESPACE in identifiers(source.tree):
        raise QuirkDoesNotApply(f"the program has a name {NAMESPACE!r} of its own")
    edits = [edit for function in outermost(source.tree) for edit in _into_namespace(source, function)]
    if edits:
        yield _added_import(source)
    yield from edits


def _into_namespace(source: Source, function: Function) -> list[Edit]:
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    left_out = _inner_bound(function) | _quoted(source, function) | {"self", "cls"}
    moved = [name for name in names if name not in left_out]
    body = function.body[is_docstring(function.body[0]) :]
    uses = [
        node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id in moved
    ]
    if not uses or source.indentation(body[0]).strip():
        return []
    used = [name for name in moved if any(node.id == name for node in uses)]
    place = source.line_start(first_line(body[0]))
    filled = ", ".join(f"{name}={name}" for name in used)
    line = Edit(
        place, place, f"{NAMESPACE} = SimpleNamespace({filled})", lead=source.indentation(body[0]), tail=source.newline
    )
    return [line, *(Edit(start := source.span(node)[0], start, f"{NAMESPACE}.") for node in uses)]


def _inner_bound(function: Function) -> set[str]:
    """Names that something inside a function binds anew, in ways that an attribute cannot stand for."""
    inner: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Lambda(args=arguments):
                inner.update(each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg))
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node is not function:
                inner |= _otherwise_bound(node) | _stored(node)
            case ast.comprehension(target=target) | ast.NamedExpr(target=target):
                inner |= _stored(target)
            case ast.Delete(targets=targets):
                inner.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                inner.update(several)
            case ast.alias(name=name, asname=other):
                inner.add(other or name.partition(".")[0])
            case (
                ast.ExceptHandler(name=str() as name)
                | ast.MatchAs(name=str() as name)
                | ast.MatchStar(name=str() as name)
            ):
                inner.add(name)
            case ast.MatchMapping(rest=str() as name):
                inner.add(name)
    return inner


def _added_import(source: Source) -> Edit:
    for statement in source.tree.body:
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not future and not is_docstring(statement):
            place = source.line_start(first_line(statement))
            return Edit(place, place, "from types import SimpleNamespace", tail=source.newline)
    raise QuirkDoesNotApply("the program has no statement")


def dynamic_imports(source: Source) -> Iterator[Edit]:
    """``import math`` becomes ``math = __import__('math')``."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Import | ast.ImportFrom) or not source.alone(node):
            continue
        if isinstance(node, ast.ImportFrom) and (
            node.level or node.module in (None, "__future__") or node.names[0].name == "*"
        ):
            continue
        lead = ""
        start, end = source.span(node)
        for line in _calls(node):
            yield Edit(start, end, line, lead=lead)
            lead = f"{source.newline}{source.indentation(node)}"
            start = end  # the first stands for the import, the others follow it


def _calls(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    for each in node.names:
        bound = each.asname or each.name
        if isinstance(node, ast.ImportFrom):
            yield f"{bound} = __import__('{node.module}', fromlist=['{each.name}']).{each.name}"
        elif each.asname and "." in each.name:
            yield f"{bound} = __import__('{each.name}', fromlist=['{each.name.rpartition('.')[2]}'])"
        else:
            yield f"{bound.partition('.')[0]} = __import__('{each.name}')"
