"""A corpus of two values and two tasks, with the columns that the real ones have."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.corpora.bundles.examples import CHATS, DOCUMENTS, TASKS, Example, Span
from tasks.corpora.code_pii.values import VALUES

KEYS = {"account_id-00": "8K0C-QPSD-GDWC", "username-00": "jane_260"}
GOLD = "```python\ndef double(x):\n    return 2 * x\n```"


def write_corpus(folder: Path, *, quirks: bool = False) -> Path:
    texts = [(f"key = '{text}'\n", value, text) for value, text in KEYS.items()] * 2
    chats, documents = [], []
    for number, (code, value, text) in enumerate(texts):
        start = code.index(text)
        spans = (Span(start, start + len(text), value[:-3], value),)
        common = ("contaminated", spans, "train", "identity-00")
        for rows, question in ((chats, "Write the key."), (documents, None)):
            kind, found, split, group = common
            rows.append(Example(f"row-{number}", kind, question, code, found, split, group).row())  # type: ignore[arg-type]
    _write(folder / "chats" / "train.parquet", chats, CHATS)
    _write(folder / "documents" / "train.parquet", documents, DOCUMENTS)
    text = "def double(x):\n    return 2 * x\n"
    _write(
        folder / "documents" / "development.parquet",
        [Example("d", "gold", None, text, (), "development").row()],
        DOCUMENTS,
    )
    _write(folder / "values.parquet", [*_values("train"), *_values("calibration")], VALUES)
    prompts = ("Double a number.", "Return twice x.")
    tests = "assert double(2) == 4\n"
    _write(
        folder / "tasks.parquet",
        [
            {"id": f"double-{place}", "task": "double", "prompt": prompt, "gold": GOLD, "tests": tests}
            for place, prompt in enumerate(prompts)
        ],
        TASKS,
    )
    if quirks:
        schema = pa.schema([pa.field("quirk", pa.string()), pa.field("id", pa.string())])
        shown = [{"quirk": "semicolons", "id": f"double-{place}"} for place in (0, 1)]
        _write(folder / "display.parquet", shown, schema)
    return folder


def _values(split: str) -> list[dict[str, Any]]:
    return [
        {"value": value if split == "train" else f"other-{value}", "kind": value[:-3], "text": text,
         "group": "identity-00", "split": split, "chats": 2, "documents": 2}
        for value, text in KEYS.items()
    ]  # fmt: skip


def _write(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
