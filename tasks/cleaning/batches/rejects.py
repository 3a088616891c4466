"""Rejects as JSON Lines: which text was not cleaned, and why."""

import json
from collections.abc import Mapping, Sequence
from typing import IO

from tasks.cleaning.batches.document import Outcome


def write_rejects(file: IO[str], outcomes: Sequence[Outcome], key: str) -> None:
    """Write a line for each text that failed: its number or path under ``key``, the reason, and the detail.

    The detail may quote the text.
    """
    for each in outcomes:
        if each.failure is not None:
            name: int | str = int(each.document.name) if key == "row" else each.document.name
            write_line(file, {key: name, "reason": each.failure.reason, "detail": each.failure.detail})


def write_line(file: IO[str], row: Mapping[str, object]) -> None:
    """Write one object; half a surrogate pair in it, which UTF-8 cannot carry, as an escape."""
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(row)
    file.write(f"{line}\n")
