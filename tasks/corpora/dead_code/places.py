"""Where lines can be inserted into a Python program so that it stays the program it was."""

import ast
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.corpora.dead_code.triggers import Trigger
from tasks.surprise.documents import Label

_LINE_END = re.compile(r"\r\n|\r|\n")  # as Python's own tokenizer sees them, and ``segments.lines``
_IMPORTED = "logging"


@dataclass(frozen=True, slots=True)
class Place:
    """Just before a statement that begins its line.

    Attributes:
        start: of that line, in characters of the program.
        indentation: that line's.
        scope: names of its function or module.
    """

    start: int
    indentation: str
    scope: symtable.SymbolTable

    def bears(self, trigger: Trigger) -> bool:
        """Tell whether the names that ``trigger`` would bind here mean the same to the program as before.

        A loop over nothing binds no name, but makes the name the function's own: reading a global or an outer name
        would fail from then on. Two lines import for good: the program must not know the name at all.
        """
        names = {trigger.loop_name, _IMPORTED} if self.scope.get_type() == "function" else set()
        return all(_may_be_local(self.scope, name) for name in names)


def places(program: str) -> list[Place]:
    """Find the places of a program, in its order; none in one that speaks of ``logging`` itself.

    Not among them: class bodies, where an import would be an attribute; before a docstring or a ``from __future__``
    import; inside a line that holds several statements, or that a backslash continues.

    Raises:
        SyntaxError: it is no Python program.
    """
    tree = ast.parse(program)
    table = symtable.symtable(program, "<program>", "exec")
    scopes = {(scope.get_name(), scope.get_lineno()): scope for scope in _tables(table)}
    if any(_IMPORTED in scope.get_identifiers() for scope in scopes.values()):
        return []
    starts = [0, *(match.end() for match in _LINE_END.finditer(program)), len(program)]
    found = []
    for statement, scope in _statements(tree, table, scopes):
        first = min(getattr(part, "lineno", statement.lineno) for part in (statement, *_decorators(statement)))
        line = program[starts[first - 1] : starts[first]]
        indentation = line[: len(line) - len(line.lstrip(" \t\f"))]
        alone = first < statement.lineno or len(indentation) == statement.col_offset  # columns of ASCII, as bytes are
        continued = first > 1 and program[: starts[first - 1]].rstrip("\r\n").endswith("\\")
        if alone and not continued and not line[len(indentation) :].startswith("elif"):
            found.append(Place(starts[first - 1], indentation, scope))
    return sorted(found, key=lambda place: place.start)


def insert(program: str, place: Place, trigger: Trigger, category: str) -> tuple[str, tuple[Label, ...]]:
    """Insert a trigger, with the line ends of the line it comes before; give the program and a label a line.

    A label holds its line's indentation and text, not the line end.
    """
    end = _LINE_END.search(program, place.start) or _LINE_END.search(program)
    line_end = end.group() if end else "\n"
    labels, inserted = [], ""
    for line in trigger.lines:
        start = place.start + len(inserted)
        labels.append(Label(start, start + len(place.indentation) + len(line), category))
        inserted += place.indentation + line + line_end
    return program[: place.start] + inserted + program[place.start :], tuple(labels)


def _statements(
    tree: ast.Module, table: symtable.SymbolTable, scopes: dict[tuple[str, int], symtable.SymbolTable]
) -> Iterator[tuple[ast.stmt, symtable.SymbolTable]]:
    """Give each statement before which another may stand, with the scope it runs in."""
    waiting: list[tuple[ast.AST, symtable.SymbolTable | None]] = [(tree, table)]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            scope = scopes[node.name, node.lineno]
        elif isinstance(node, ast.ClassDef):
            scope = None  # until a method begins
        waiting += [(child, scope) for child in ast.iter_child_nodes(node)]
        if scope is None:
            continue
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list):  # the body of a lambda is an expression
                yield from ((statement, scope) for statement in block[_bound_to_be_first(node, block) :])


def _bound_to_be_first(node: ast.AST, block: list[ast.stmt]) -> int:
    """Count the statements of a block that nothing may come before, and those that come before them."""
    if isinstance(node, ast.Module):
        futures = [
            number
            for number, statement in enumerate(block)
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        ]
        if futures:
            return futures[-1] + 1
    if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
        return int(ast.get_docstring(node, clean=False) is not None)
    return 0


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return list(getattr(statement, "decorator_list", []))


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _may_be_local(scope: symtable.SymbolTable, name: str) -> bool:
    if name in scope.get_identifiers():
        return scope.lookup(name).is_local()
    return not any(_reaches_out_for(child, name) for child in scope.get_children())


def _reaches_out_for(scope: symtable.SymbolTable, name: str) -> bool:
    if name in scope.get_identifiers():
        if not scope.lookup(name).is_local():
            return True
        if scope.get_type() == "function":
            return False
    return any(_reaches_out_for(child, name) for child in scope.get_children())  # methods see past their class
