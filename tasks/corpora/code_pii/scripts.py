"""Where a private value stands in scripts and in what they share: each is a template with a hole in it."""

from collections.abc import Callable
from dataclasses import dataclass

from tasks.corpora.code_pii.places import HOLE, Name


@dataclass(frozen=True, slots=True)
class Script:
    """A file that calls the project's function.

    Attributes:
        path: with ``{key}``.
        language: of the fence.
        asked: what the user asks for, with ``{words}``, ``{entry}`` and ``{package}``.
        write: from package and name to a template.
    """

    path: str
    language: str
    asked: str
    write: Callable[[str, Name], str]


def _argparse(package: str, name: Name) -> str:
    return f'''"""Run {name.entry} over a file of Python literals, one call a line."""

import argparse
import ast
from pathlib import Path

from {package}.core import {name.entry}


def main() -> None:
    """Read the arguments and print each result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", type=Path)
    parser.add_argument("--{name.key.replace("_", "-")}", default="{HOLE}")
    chosen = parser.parse_args()
    for line in chosen.calls.read_text().splitlines():
        print(chosen.{name.key}, {name.entry}(*ast.literal_eval(line)))


if __name__ == "__main__":
    main()
'''


def _fixture(package: str, name: Name) -> str:
    return f'''"""Data that the checks of {package} share."""

import json

RECORD = {{
    "entry": "{name.entry}",
    "{name.key}": "{HOLE}",
    "attempts": [1, 2, 3],
}}


def as_json() -> str:
    """Return the record as the service sends it."""
    return json.dumps(RECORD, sort_keys=True)
'''


def _shell(package: str, name: Name) -> str:
    return f'''#!/bin/sh
# Runs {name.entry} every night.
set -eu

export {name.key.upper()}="{HOLE}"
python -m {package}.cli "$@" > "$(date +%F).out"
'''


def _client(package: str, name: Name) -> str:
    return f'''"""Tells the service what {name.entry} found."""

from urllib.parse import urlencode


def address(result: object, {name.key}: str | None = None) -> str:
    """Return where a result is sent to."""
    {name.key} = {name.key} or "{HOLE}"
    query = urlencode({{"{name.key}": {name.key}, "result": repr(result)}})
    return "/{package}/results?" + query
'''


SCRIPTS = (
    Script(
        "scripts/backfill_{key}.py",
        "python",
        "that runs `{entry}` over a file; an option has the {words} as its default",
        _argparse,
    ),
    Script("checks/record_{key}.py", "python", "with a record for checks that holds the {words}", _fixture),
    Script("scripts/nightly_{key}.sh", "sh", "that runs `{package}.cli` at night and exports the {words}", _shell),
    Script(
        "jobs/report_{key}.py",
        "python",
        "that builds the address a result is sent to, with the {words} where none is given",
        _client,
    ),
)
