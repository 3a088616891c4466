"""``privasis split``: decide which triplets are for training, validation and the tests, and show what is in them."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.flags import RunFlags
from flows.commands.run_of import run_of
from flows.commands.whole import print_whole
from flows.commands.wording import counted
from flows.config import ConfigError, RunConfig
from infra.shards.store import StageStore
from tasks.evaluation.report.paper import PAPER
from tasks.evaluation.splitting.assign import SplitConfig
from tasks.evaluation.splitting.statistics import SplitStatistics
from tasks.report.formats import count, fixed, percent

PIPELINE = "triplets"  # the sanitizer whose full success tells the vanilla from the hard test


def run(
    flags: RunFlags, test: float | None, validation: float | None, seed: int | None, evaluation: str | None
) -> None:
    """Split the finished triplets of a data set; what is not said here is as the run file has it.

    Raises:
        ConfigError: the shares leave nothing, there are no triplets, or several evaluations to choose from.
    """
    config = run_of(flags)
    from flows.split import split, split_job

    said = {
        name: value for name, value in (("test", test), ("validation", validation), ("seed", seed)) if value is not None
    }
    shares = config.splits.model_dump() | said
    if shares["test"] + shares["validation"] >= 1:
        raise ConfigError(
            f"--test {shares['test']:g} and --validation {shares['validation']:g} leave nothing to train on"
        )
    job = split_job(config, SplitConfig(**shares))
    evaluations = _evaluations(config, evaluation)
    report = split(job, evaluations)
    if not report.shards:
        raise ConfigError(f"{config.root / config.dataset}: no finished triplets to split: `privasis sanitize` first")
    console = Console()
    print_whole(console, _table(report.splits))
    folder = job.store().layout.tables["splits"]
    line = f"{counted(report.shards, 'shard')} in {folder}, {report.made:,} of them split now"
    console.print(Text(line), soft_wrap=True)
    if any(each.split == "test" for each in report.splits):
        hint = "`test` becomes `vanilla` or `hard`: `privasis evaluate cleaner`, then `privasis split` again"
        console.print(Text(hint), soft_wrap=True)


def _evaluations(config: RunConfig, name: str | None) -> StageStore | None:
    from tasks.evaluation.store.steps import evaluations_of

    found = evaluations_of(config.root.resolve(), config.dataset, PIPELINE)
    if name is not None:
        if name not in found:
            raise ConfigError(f"--evaluation {name}: there is {', '.join(found) or 'none'} of the pipeline's own texts")
        return found[name]
    if len(found) > 1:
        raise ConfigError(
            f"several evaluations of the pipeline's own texts: say which by --evaluation: {', '.join(found)}"
        )
    return next(iter(found.values()), None)


def _table(splits: tuple[SplitStatistics, ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("split", no_wrap=True)
    for heading in ("triplets", "targets each", "in groups", "request, words", "text, words"):
        table.add_column(heading, justify="right")
    for each in splits:
        table.add_row(
            each.split,
            count(each.records),
            fixed(each.targets),
            percent(each.grouped),
            fixed(each.instruction_words),
            fixed(each.words),
        )
    table.add_section()
    for facts in PAPER.splits:
        grouped = facts.grouped_percent / 100 if facts.grouped_percent is not None else None
        cells = (
            f"{facts.split}, paper",
            count(facts.records),
            fixed(facts.targets),
            percent(grouped),
            fixed(facts.instruction_words),
            fixed(facts.words),
        )
        table.add_row(*(Text(cell, style="dim") for cell in cells))
    return table
