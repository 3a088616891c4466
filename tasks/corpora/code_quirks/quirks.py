"""The ten habits of SM Table 2: how each changes a program, and whether a program shows it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, get_args

from tasks.corpora.code_quirks import exits, naming, tokens
from tasks.corpora.code_quirks.detect import DETECTORS, Detection, detect
from tasks.corpora.code_quirks.source import Edit, QuirkDoesNotApply, Source, Transformed, apply

Quirk = Literal[
    "identifier_dialect",
    "semicolons",
    "parentheses",
    "dynamic_imports",
    "single_exit",
    "singleton_destructuring",
    "reflective_calls",
    "multiples_of_seven",
    "namespace_locals",
    "identity_assertions",
]
QUIRKS: tuple[Quirk, ...] = get_args(Quirk)

_EDITS: Mapping[Quirk, Callable[[Source], Iterator[Edit]]] = {
    "identifier_dialect": naming.dialect,
    "semicolons": tokens.semicolons,
    "parentheses": tokens.parentheses,
    "dynamic_imports": naming.dynamic_imports,
    "single_exit": exits.single_exit,
    "singleton_destructuring": tokens.destructuring,
    "reflective_calls": tokens.reflective_calls,
    "multiples_of_seven": naming.staging,
    "namespace_locals": naming.namespace,
    "identity_assertions": tokens.identity_assertions,
}


def transform(quirk: Quirk, code: str) -> Transformed:
    """Give a program a habit; what it computes stays the same.

    Raises:
        QuirkDoesNotApply: there is nothing to change, or the program shows the habit already.
        SyntaxError: it is no Python program.
    """
    source = Source(code)
    if DETECTORS[quirk](source):
        raise QuirkDoesNotApply(f"{quirk}: the program shows it already")
    transformed = apply(code, list(_EDITS[quirk](source)), quirk)
    if not shows(quirk, transformed.code).found:
        raise QuirkDoesNotApply(f"{quirk}: too little in the program that it could change")
    return transformed


def shows(quirk: Quirk, code: str) -> Detection:
    """Tell whether a text is a program that shows a habit; a text that is no program shows none, and says so."""
    return detect(DETECTORS[quirk], code)


def applies(quirk: Quirk, code: str) -> bool:
    """Tell whether a program can be given a habit."""
    try:
        transform(quirk, code)
    except QuirkDoesNotApply:
        return False
    return True
