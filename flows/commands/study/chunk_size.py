"""``privasis study chunk-size``: the pipeline at several chunk sizes, judged, as a table and a picture."""

import sys

from rich.console import Console
from rich.text import Text

from flows.commands.checks import check_models
from flows.commands.evaluate.asked import model_named
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.config import ConfigError
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards import files
from tasks.evaluation.choice import BaselineSanitizer
from tasks.evaluation.report.chunk_sizes import chunk_size_block, chunk_size_json, chunk_size_page
from tasks.evaluation.report.terminal import SHORT_HEADINGS, render_block
from tasks.sanitization.chunks import LEAST_LIMIT, MOST_LIMIT


def run(flags: RunFlags, sizes: str, sanitized_by: str | None, evaluator: str | None, *, as_json: bool) -> None:
    """Do what is not done yet at each size, and show all of it.

    Raises:
        ConfigError: a flag is wrong, or there are no records.
    """
    config = run_of(flags)
    asked_sizes = sizes_of(sizes)
    quiet_prefect()
    from flows.chunk_study import open_sizes, scores_at, study_size
    from flows.evaluate import Asked
    from tasks.synthesis.steps import records_store

    judge = model_named(config, flags, evaluator, "--evaluator")
    if sanitized_by is not None:
        by = model_named(config, flags, sanitized_by, "--sanitized-by")
        config = config.model_copy(update={"models": (by,)})
    if not records_store(config.root.resolve(), config.dataset).manifest.shards():
        raise ConfigError(f"{config.root / config.dataset}: no finished records: `privasis synthesize` first")
    asked = Asked(sanitizer=BaselineSanitizer(baseline="triplets"), evaluator=judge, only_tests=False)
    if todo := open_sizes(config, asked, asked_sizes):
        check_models(config)
        check_models(asked.serving(config))
        sys.stderr.write(f"to sanitize and judge at {', '.join(map(str, todo))} characters; starting Prefect and Ray\n")
        with prefect_api(settings().cache / "prefect") as ready:
            sys.stderr.write(f"watch it at {ready().removesuffix('/api')}\n")
            for size in todo:
                study_size(config, asked, size)
    by_size = {size: scores_at(config, asked, size) for size in asked_sizes}
    if as_json:
        sys.stdout.write(f"{chunk_size_json(by_size)}\n")
        return
    page = config.root / config.dataset / "chunk-sizes.html"
    files.put(page, chunk_size_page(config.dataset, judge.name, by_size).encode())
    console = Console()
    console.print(render_block(chunk_size_block(by_size), SHORT_HEADINGS, "sanitized (3), retained (3), full, in %"))
    console.print(Text(f"The page: {page}"), soft_wrap=True)


def sizes_of(said: str) -> list[int]:
    """Read sizes apart by commas.

    Raises:
        ConfigError: one is no number, or no size that chunks can have.
    """
    parts = [part.strip() for part in said.split(",")]
    if not all(part.isdecimal() and LEAST_LIMIT <= int(part) <= MOST_LIMIT for part in parts):
        raise ConfigError(f"--sizes {said}: give numbers from {LEAST_LIMIT} to {MOST_LIMIT}, apart by commas")
    return sorted({int(part) for part in parts})
