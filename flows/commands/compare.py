"""``privasis compare``: data sets side by side, in the layouts of the paper's tables."""

import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.text import Text

from flows.commands.datasets import open_finished
from flows.config import ConfigError
from flows.report import summary_of
from infra.shards import files
from infra.shards.location import Location
from tasks.report.compare import compare, to_json
from tasks.report.page import comparison_page
from tasks.report.terminal import render_compare


def run(folders: list[Location], page: Path | None, as_json: bool) -> None:
    """Compare the data sets in ``folders``, in the terminal or as JSON, and as a page where one is asked for.

    Raises:
        ConfigError: no finished data set in one of them, or one is named twice.
    """
    resolved = [folder.resolve() for folder in folders]
    if len(set(resolved)) < len(resolved):
        raise ConfigError(f"a data set is named twice: {', '.join(map(str, folders))}")
    repeated = Counter(folder.name for folder in resolved)
    names = [folder.name if repeated[folder.name] == 1 else str(folder) for folder in resolved]
    stores = [open_finished(folder) for folder in folders]  # before the first is read: reading takes its time
    comparison = compare({name: summary_of(store) for name, store in zip(names, stores, strict=True)})
    if page is not None:
        files.put(page, comparison_page(comparison).encode())
    if as_json:
        sys.stdout.write(f"{to_json(comparison)}\n")
        return
    console = Console()
    console.print(render_compare(comparison))
    if page is not None:
        console.print(Text(f"The page: {page}"), soft_wrap=True)
