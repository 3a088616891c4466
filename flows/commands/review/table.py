"""``privasis review table``: what came out, beside the paper's figures."""

import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from flows.commands.review.unfit import as_usage
from flows.config import ConfigError
from flows.review.folder import ReviewFolder, read_key
from flows.review.reviewers import read_reviewers
from infra.shards import files
from tasks.reviewing.results import results_of
from tasks.reviewing.written import to_json, to_markdown, to_page, to_terminal

PAGE, MARKDOWN, JSON = "results.html", "results.md", "results.json"


def run(folder: Path, key_file: Path | None, *, as_json: bool) -> None:
    """Put all judgements together, show and write them.

    Raises:
        ConfigError: there is no review, no key or another's, or nobody has judged anything.
        JournalCorrupt: judgements are damaged other than by a torn tail.
    """
    review = ReviewFolder(folder)
    with as_usage():
        sheet = review.sheet()
        key = read_key(key_file or review.key_file)
        reviewers = read_reviewers(review.reviewers_file)
        results = results_of(sheet, key, review.judgements(reviewers.names))
    if not results.judgements:
        raise ConfigError(f"{folder}: nobody has judged a text yet: `privasis review serve` or `export` lets them")
    if as_json:
        sys.stdout.write(f"{to_json(results)}\n")
        return
    console = Console()
    console.print(to_terminal(results))
    for name, written in ((PAGE, to_page(results)), (MARKDOWN, to_markdown(results)), (JSON, to_json(results))):
        files.put(folder / name, written.encode("utf-8"))
    console.print(Text(f"\nThe same as {folder / PAGE}, {MARKDOWN} and {JSON} beside it"), soft_wrap=True)
