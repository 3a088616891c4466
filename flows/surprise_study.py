"""One benchmark from its files to a page: documents as input for scoring, then figures beside the paper's."""

import json
import platform
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from flows.commands.surprise.methods import Surroundings, method_of
from infra.engines.cores import usable_cores
from infra.sandbox.run import Limits, run_python
from tasks.corpora.study.benchmarks import Benchmark, Prepared
from tasks.corpora.study.judge import Calibrated, Judged, judge
from tasks.corpora.study.markdown import Effort, markdown
from tasks.corpora.study.paper import paper_on
from tasks.records import LABEL, REGION, SPAN
from tasks.surprise.baselines.methods import Material, Method
from tasks.surprise.documents import Document
from tasks.surprise.evaluation.presets import PRESETS
from tasks.surprise.pictures.curves import RocPair, roc
from tasks.surprise.reading.columns import Columns
from tasks.surprise.scored import ScoredSet

LIMITS = Limits(wall_s=20, cpu_s=20)  # of a benchmark's own tests (SM B.3)


@dataclass(frozen=True)
class StudyFiles:
    """Where a study keeps what, in a folder of its own.

    Attributes:
        documents: the input of scoring.
        timing: seconds that scoring took, over all runs.
        page: Markdown.
        figures: everything, unrounded.
        picture: ROC curves.
    """

    documents: Path
    timing: Path
    page: Path
    figures: Path
    picture: Path

    @classmethod
    def under(cls, folder: Path) -> "StudyFiles":
        """Name the files in ``folder``, and make it."""
        folder.mkdir(parents=True, exist_ok=True)
        names = ("documents.parquet", "timing.json", "study.md", "study.json", "roc.png")
        return cls(*(folder / name for name in names))


def prepare(benchmark: Benchmark, data: Path) -> Prepared:
    """Read a benchmark; its programs, if it has any, run in the sandbox.

    Raises:
        CorpusNotReadable: a file is missing or not in the published format.
        TooFewPrograms: too few programs pass their own tests.
        SandboxUnavailable: this system cannot confine programs.
    """
    return benchmark.prepare(data, _passes)


def _passes(program: str) -> bool:
    return run_python(program, LIMITS).kind == "passed"


def write_documents(documents: Sequence[Document], path: Path) -> Columns:
    """Write documents as a table for scoring, and return what its columns mean."""
    strata = sorted({name for document in documents for name in document.strata})
    schema = pa.schema(
        [
            pa.field("document_id", pa.string(), nullable=False),
            pa.field("text", pa.string(), nullable=False),
            pa.field("labels", pa.list_(LABEL), nullable=False),
            pa.field("labelled", pa.bool_(), nullable=False),
            pa.field("regions", pa.list_(REGION), nullable=False),
            pa.field("supervised", pa.list_(SPAN)),
            *(pa.field(name, pa.string()) for name in strata),
        ]
    )
    pq.write_table(pa.Table.from_pylist([_row(document) for document in documents], schema), path)
    return Columns(
        id="document_id",
        labels="labels",
        labelled="labelled",
        regions="regions",
        supervised="supervised",
        strata=tuple(strata),
    )


def _row(document: Document) -> dict[str, Any]:
    return {
        "document_id": document.id,
        "text": document.text,
        "labels": [asdict(label) for label in document.labels],
        "labelled": document.labelled,
        "regions": [asdict(region) for region in document.regions],
        "supervised": None if document.supervised is None else [asdict(part) for part in document.supervised],
        **document.strata,
    }


@contextmanager
def timed(timing: Path) -> Iterator[None]:
    """Add the seconds of the block to those of the runs before it, however it ends."""
    started = time.monotonic()
    try:
        yield
    finally:
        timing.write_text(json.dumps({"scoring_s": scoring_seconds(timing) + time.monotonic() - started}))


def scoring_seconds(timing: Path) -> float:
    """Return the seconds that scoring has taken so far."""
    return float(json.loads(timing.read_text())["scoring_s"]) if timing.exists() else 0.0


def check_methods(names: Sequence[str]) -> None:
    """Make each method once, so that what it lacks is found before hours of scoring, not after.

    Raises:
        Misspelled: there is no such method.
        ModuleNotFoundError: its package is not installed.
    """
    around = Surroundings([])
    parts = {part.strip() for name in names for part in re.split(r"[|&]", name)}
    for part in sorted(parts - {"policy", "random"}):
        method_of(part, around)


def write_study(
    benchmark: Benchmark, prepared: Prepared, scored: ScoredSet, methods: Sequence[str], files: StudyFiles
) -> None:
    """Judge, and write page, figures and picture.

    Args:
        benchmark: which.
        prepared: as it was read.
        scored: its documents.
        methods: what stands beside Surprise Masking, by the names of ``privasis surprise evaluate``.
        files: where to.

    Raises:
        ValueError: a method is misspelled, or a document has no scores.
    """
    started = time.monotonic()
    setting = PRESETS[benchmark.preset]
    judged = judge(scored, prepared.folds, setting, _Beside(methods), benchmark.transfers)
    effort = Effort(
        tokens=scored.tokens.size,
        scoring_s=scoring_seconds(files.timing),
        judging_s=time.monotonic() - started,
        machine=f"{usable_cores()} cores, {platform.machine()}",
    )
    model = scored.reference.model
    page = markdown(benchmark, setting, model, prepared, judged, paper_on(benchmark.name), effort, files.picture.name)
    files.page.write_text(page, encoding="utf-8")
    files.figures.write_text(json.dumps(_figures(prepared, judged, model, effort), indent=2, allow_nan=False) + "\n")
    files.picture.write_bytes(_picture(benchmark, judged))


@dataclass(frozen=True)
class _Beside:
    """Makes the methods of these names; those that do not depend on the material once, for they load models."""

    names: Sequence[str]
    made: dict[str, Method] = field(default_factory=dict)

    def __call__(self, material: Material, at: Calibrated | None) -> list[tuple[str, Method]]:
        """Make those that can be had: without a threshold of Surprise Masking nothing can be built on it."""
        around = Surroundings([material], None if at is None else (at[0], [at[1]]))
        methods = [(name, self._method(name, around)) for name in self.names if at or not _builds_on_it(name)]
        # A name with an argument (a model's folder) is for the machine, the method's own for a table.
        return [(method.name if ":" in name else name.replace("policy", "SM"), method) for name, method in methods]

    def _method(self, name: str, around: Surroundings) -> Method:
        if _builds_on_it(name):
            return method_of(name, around)
        if name not in self.made:
            self.made[name] = method_of(name, around)
        return self.made[name]


def _builds_on_it(name: str) -> bool:
    return "random" in name or "policy" in name


def _figures(prepared: Prepared, judged: Judged, model: str, effort: Effort) -> dict[str, Any]:
    return {
        "model": model,
        "effort": asdict(effort),
        "counted": [asdict(each) for each in prepared.counted],
        "rejects": [asdict(each) for each in prepared.rejects],
        "rows": [row.json() for row in judged.rows],
        "transfer": {by: [table.json() for table in tables] for by, tables in judged.transfers.items()},
    }


def _picture(benchmark: Benchmark, judged: Judged) -> bytes:
    """Draw the curves of the first split: its applications, each with the validation part."""
    first = [each for each in judged.curves if each.fold == 0]
    names = [benchmark.name] if len(first) == 1 else [each.part for each in first]
    return roc([RocPair(name, each.validation, each.application) for name, each in zip(names, first, strict=True)])
