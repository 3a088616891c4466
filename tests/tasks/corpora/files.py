"""Small files in the published formats."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path


def write_lines(path: Path, rows: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_gzip(path: Path, rows: Iterable[object]) -> Path:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path
