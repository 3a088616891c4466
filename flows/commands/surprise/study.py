"""``privasis surprise study``: a benchmark read, scored and judged."""

import re
import sys
from collections import Counter
from pathlib import Path

from flows.commands.errors import Code, RunFailed
from flows.commands.surprise import score
from flows.config import ConfigError
from flows.surprise_study import StudyFiles, check_methods, prepare, timed, write_documents, write_study
from infra.sandbox.run import SandboxUnavailable
from tasks.corpora.dead_code.poison import TooFewPrograms
from tasks.corpora.rows import CorpusNotReadable
from tasks.corpora.study.benchmarks import BENCHMARKS, Benchmark, Prepared
from tasks.surprise.evaluation.notation import Misspelled
from tasks.surprise.reading.columns import Columns
from tasks.surprise.store.steps import read_scores

SCORES = "scores"  # folder of score data sets, under the output


def run(benchmark: str, data: Path, output: Path, model: str | None, methods: tuple[str, ...], workers: int) -> None:
    """Reproduce a benchmark, and print its page.

    Raises:
        ConfigError: the data are not the benchmark's, or a method is misspelled.
        RunFailed: shards did not get scored, or programs cannot be run here.
    """
    chosen = BENCHMARKS[benchmark]
    reference = model or chosen.reference
    name = f"{chosen.name}-{_slug(reference)}"
    beside = (*chosen.methods, *methods)
    try:
        check_methods(beside)
    except Misspelled as error:
        raise ConfigError(str(error)) from error
    files = StudyFiles.under(output / name)
    prepared = _prepared(chosen, data)
    _say_sizes(prepared)
    columns = write_documents(prepared.documents, files.documents)
    with timed(files.timing):
        score.run(_flags(files.documents, columns, name, output / SCORES, reference, workers), "stale")
    write_study(chosen, prepared, read_scores(output / SCORES, name), beside, files)
    sys.stdout.write(files.page.read_text(encoding="utf-8"))
    sys.stderr.write(f"Written: {files.page}, {files.figures}, {files.picture}\n")


def _prepared(benchmark: Benchmark, data: Path) -> Prepared:
    try:
        return prepare(benchmark, data)
    except (CorpusNotReadable, TooFewPrograms) as error:
        raise ConfigError(str(error)) from error
    except SandboxUnavailable as error:
        raise RunFailed(str(error), Code.OUTSIDE) from error


def _say_sizes(prepared: Prepared) -> None:
    for each in prepared.counted:
        missing = "" if each.found == each.published else f" ({each.published:,} are published)"
        sys.stderr.write(f"{each.found:,} {each.what}{missing}\n")
    first: dict[str, str] = {}
    for reject in prepared.rejects:
        first.setdefault(reject.reason, reject.place)
    for reason, many in Counter(reject.reason for reject in prepared.rejects).most_common(5):
        sys.stderr.write(f"{many:,} not used, {first[reason]} for one: {reason}\n")


def _flags(documents: Path, columns: Columns, name: str, root: Path, model: str, workers: int) -> score.ScoreFlags:
    return score.ScoreFlags(
        inputs=(documents,),
        dataset=name,
        root=root,
        model=model,
        tokenizer=None,
        format="parquet",
        suffixes=(),
        text=columns.text,
        messages=None,
        id=columns.id,
        group=None,
        labels=columns.labels,
        labelled=columns.labelled,
        regions=columns.regions,
        supervised=columns.supervised,
        strata=columns.strata,
        prompt=None,
        violating=None,
        compliant=None,
        plain=True,
        context=None,
        stride=None,
        workers=workers,
        shard_size=128,
    )


def _slug(model: str) -> str:
    """Name a model in a file name: its last part, without what a data set's name may not have."""
    last = model.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-._") or "model"
