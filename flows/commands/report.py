"""``privasis report``: a data set in the terminal and as a page."""

import shlex
import sys

from rich.console import Console
from rich.text import Text

from flows.commands.datasets import open_finished
from flows.report import examples_of, summary_of, to_json, write_page
from infra.shards.location import Location
from tasks.report.terminal import render_record, render_summary


def run(folder: Location, as_json: bool) -> None:
    """Show the data set in ``folder`` and write its page; as JSON, print its figures and write nothing.

    Raises:
        ConfigError: no finished data set there.
    """
    store = open_finished(folder)
    summary = summary_of(store)
    if as_json:
        sys.stdout.write(f"{to_json(summary)}\n")
        return
    page = write_page(store, folder.resolve().name, summary)
    console = Console()
    console.print(render_summary(summary))
    for row in examples_of(store, "records", 1, by="domain"):
        console.print(render_record(row))
    quoted = shlex.quote(str(folder))
    for line in (
        f"\nThe page: {page}",
        f"The records: {store.layout.tables['records']}/*.parquet",
        "\nNext:",
        f"  privasis compare {quoted} OTHER...   beside another data set, and the paper's",
        f"  privasis shards verify {quoted}      every file read again and compared with the manifest",
    ):
        console.print(Text(line), soft_wrap=True)
