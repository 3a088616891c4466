"""What quirk display is measured with: for each habit the prompts of tasks to which it applies (SM appendix B.3)."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from tasks.corpora.bundles.prompts import TestedPrompt, read_prompts, rows
from tasks.corpora.code_quirks.quirks import Quirk

DISPLAY_FILE = "display.parquet"
DISPLAY = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("quirk", "id")])


def read_display(corpus: Path) -> dict[Quirk, list[TestedPrompt]]:
    """Read the prompts of each habit.

    Raises:
        CorpusNotReadable: the folder holds none.
    """
    by_id = {prompt.id: prompt for prompt in read_prompts(corpus)}
    found: list[dict[str, Any]] = rows(corpus / DISPLAY_FILE)
    display: dict[Quirk, list[TestedPrompt]] = {}
    for row in found:
        display.setdefault(row["quirk"], []).append(by_id[row["id"]])
    return display
