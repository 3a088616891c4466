"""A Python program whose parts are known by their places in the text, and edits of it that say where they are after."""

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.corpora.bundles.examples import Span

Function = ast.FunctionDef | ast.AsyncFunctionDef
_LINE_END = re.compile(r"\r\n|\r|\n")  # as Python's own tokenizer sees them
_NOTHING_MORE = re.compile(r"[ \t\f]*(#[^\r\n]*)?(?=\r|\n|\Z)")


class QuirkDoesNotApply(ValueError):
    """A program has nothing that this habit could change, or shows it already."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters [start, end) become ``lead`` (white space, not labelled), ``text`` (labelled) and ``tail``."""

    start: int
    end: int
    text: str
    lead: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Transformed:
    """A program with a habit, and the spans of what the habit brought in."""

    code: str
    spans: tuple[Span, ...]


class Source:
    """A parsed program.

    Attributes:
        text: the program.
        tree: its syntax tree.
    """

    def __init__(self, text: str) -> None:
        """Parse a program.

        Raises:
            SyntaxError: it is none.
        """
        self.text = text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what models write has escapes that mean nothing: they are no fault here
            self.tree = ast.parse(text)
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._ascii = text.isascii()
        in_strings = [node for node in ast.walk(self.tree) if isinstance(node, ast.JoinedStr)]
        self._quoted = {id(node) for string in in_strings for node in ast.walk(string)} - {
            id(node) for node in in_strings
        }

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the characters [start, end) of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def quoted(self, node: ast.AST) -> bool:
        """Tell whether a node is inside an f-string, where Python before 3.12 does not know places."""
        return id(node) in self._quoted

    def line_start(self, line: int) -> int:
        """Return where a line begins, counted from 1."""
        return self._starts[line - 1]

    def line_of(self, place: int) -> int:
        """Return the line that a character is on, counted from 1."""
        return bisect_right(self._starts, place)

    def indentation(self, node: ast.stmt) -> str:
        """Return the white space before a statement that begins its line."""
        start, _ = self.span(node)
        return self.text[self.line_start(node.lineno) : start]

    def alone(self, node: ast.stmt) -> bool:
        """Tell whether nothing else is on the lines of a statement, but a comment."""
        start, end = self.span(node)
        before = self.text[self.line_start(node.lineno) : start]
        return not before.strip() and self.ends_line(end)

    def ends_line(self, place: int) -> bool:
        """Tell whether nothing follows on the line, but a comment."""
        return _NOTHING_MORE.match(self.text, place) is not None

    def line_end(self, place: int) -> int:
        """Return where the line of a place ends, before its line break."""
        found = _LINE_END.search(self.text, place)
        return found.start() if found else len(self.text)

    @property
    def newline(self) -> str:
        """The line break of the program."""
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    def after(self, node: ast.stmt, text: str) -> Edit:
        """Add a line of its own after a statement that is alone, as far in as the statement."""
        place = self.line_end(self.span(node)[1])
        return Edit(place, place, text, lead=f"{self.newline}{self.indentation(node)}")

    def _at(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        if self._ascii:
            return start + column
        rest = self.text[start : start + column].encode("utf-8", "surrogatepass")[:column]  # columns are UTF-8 bytes
        return start + len(rest.decode("utf-8", "surrogatepass"))


def apply(text: str, edits: Sequence[Edit], kind: str) -> Transformed:
    """Apply edits; of several at one place the first stands first.

    Raises:
        QuirkDoesNotApply: there are none.
        ValueError: two replace the same characters.
    """
    if not edits:
        raise QuirkDoesNotApply(f"{kind}: nothing in the program that it could change")
    pieces, spans, at, length = [], [], 0, 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise ValueError(f"{kind}: two edits of the character at {edit.start}")
        before = text[at : edit.start] + edit.lead
        start = length + len(before)
        if edit.text:
            spans.append(Span(start, start + len(edit.text), kind))
        pieces += [before, edit.text, edit.tail]
        length = start + len(edit.text) + len(edit.tail)
        at = edit.end
    return Transformed("".join([*pieces, text[at:]]), tuple(spans))


def functions(tree: ast.AST) -> Iterator[Function]:
    """Yield the functions of a program, outermost first."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def outermost(tree: ast.AST) -> Iterator[Function]:
    """Yield the functions that are in no other."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from outermost(child)


def assignments(tree: ast.AST) -> Iterator[tuple[ast.Assign, ast.Name]]:
    """Yield assignments to one name, in the order of the text."""
    found = [
        (node, node.targets[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    ]
    return iter(sorted(found, key=lambda each: (each[0].lineno, each[0].col_offset)))


def identifiers(tree: ast.AST) -> set[str]:
    """Return every name that a program says, attributes and keywords included."""
    names: set[str] = set()
    for node in ast.walk(tree):
        for field in ("id", "name", "arg", "attr", "asname", "rest"):
            if isinstance(name := getattr(node, field, None), str):
                names.add(name)
        if isinstance(node, ast.Global | ast.Nonlocal):
            names.update(node.names)
    return names


def is_docstring(statement: ast.stmt) -> bool:
    """Tell whether a statement is a text alone."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def first_line(statement: ast.stmt) -> int:
    """Return the line that a statement begins on, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
