"""``privasis review make``: a blind sheet and its key."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.datasets import open_finished
from flows.commands.review.unfit import as_usage
from flows.commands.wording import counted
from flows.config import ConfigError
from flows.review.folder import ReviewFolder
from flows.review.make import Made, make_sheet
from infra.shards.location import Location
from tasks.report.formats import count, percent
from tasks.report.marks import visible


def run(
    folders: Sequence[Location],
    human: Sequence[Path],
    *,
    records: int,
    folder: Path,
    key_file: Path | None,
    text_column: str,
    seed: int,
) -> None:
    """Make a review in ``folder`` and say how like each other its two sources are on the outside.

    Raises:
        ConfigError: no such data set, too few texts of like length, or a review is there already.
        InputUnfit: the human-written texts cannot be read.
    """
    datasets = {str(each): open_finished(each) for each in folders}
    if len({each.resolve() for each in folders}) < len(folders):
        raise ConfigError("a data set is named twice: name each once")
    review = ReviewFolder(folder)
    key_file = key_file or review.key_file
    if key_file.resolve().is_relative_to(folder.resolve()):
        raise ConfigError(f"--key {key_file}: is in the folder of the review: whoever serves that would have the key")
    with as_usage():
        made = make_sheet(datasets, human, text_column=text_column, count=records, seed=seed)
        review.create(made.sheet, made.key, key_file)
    _tell(made, review, key_file)


def _tell(made: Made, review: ReviewFolder, key_file: Path) -> None:
    console = Console()
    key = made.key
    lengths = Table.grid(padding=(0, 2))
    for justify in ("left", *["right"] * 6):
        lengths.add_column(justify=justify)  # type: ignore[arg-type]
    lengths.add_row("words a text", "texts", "least", "25 %", "median", "75 %", "most", style="dim")
    for each in key.lengths:
        figures = (each.texts, each.least, each.p25, each.median, each.p75, each.most)
        lengths.add_row(each.of, *map(count, figures))
    console.print(lengths)
    lines = [
        f"\nDrawn in bins of lengths that differ by a factor of {key.factor:.2f} at most. Of a synthetic and a"
        f" human-written text the synthetic one is longer in {key.longer_share:.0%} of all pairs; 50 % tells nothing."
    ]
    for tell in key.tells:
        lines.append(f"{tell.name}: {percent(tell.synthetic)} of synthetic, {percent(tell.human)} of human-written.")
    if made.left_out:
        told = ", ".join(f"{visible(reason)} {rows:,}" for reason, rows in made.left_out.most_common())
        lines.append(f"Human-written rows left out: {told}.")
    quoted = shlex.quote(str(review.path))
    lines += [
        f"\nThe sheet: {review.sheet_file}, {counted(len(made.sheet.items), 'text')}",
        f"The key: {key_file}; keep it from reviewers",
        "\nNext:",
        f"  privasis review serve {quoted} --reviewer NAME   a page for each reviewer",
        f"  privasis review export {quoted} --reviewer NAME  a file that needs no server",
        f"  privasis review table {quoted}                   what came out",
    ]
    for line in lines:
        console.print(Text(line), soft_wrap=True)
