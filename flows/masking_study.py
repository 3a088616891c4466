"""A study of masked training from its corpus to the paper's tables and pictures: one flow, which can be interrupted."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefect import flow
from pydantic import BaseModel, ConfigDict, Field

from flows.corpus import MANIFEST, CorpusManifest, make_code_pii, make_code_quirks
from flows.surprise_score import ScoreRun, score
from infra.engines.cores import usable_cores
from infra.shards import files
from infra.shards.spec import spec_hash
from tasks.masking_study.config import HabitCorpus, PrivateCorpus, Scale, ScaleName, StudyName
from tasks.masking_study.grid import Cell, cells, methods
from tasks.masking_study.levels import Levels
from tasks.masking_study.models.steps import CellJob, run_cell
from tasks.masking_study.report.study import Setup, Study, write_report
from tasks.masking_study.results import CellResult
from tasks.masking_study.steps import find_levels, make_masks, measure_yardsticks
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.steps import InputConfig
from tasks.surprise.reference.steps import ReferenceModel
from tasks.surprise.store.steps import read_scores
from tasks.training.masked.steps import read_coverage

TRAIN, HELD_OUT = "train", "calibration"  # splits of a corpus
SCORING = "scoring.json"


class StudyRun(BaseModel):
    """One study at one size, in a folder of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: ScaleName
    scale: Scale
    output: Path = Field(description="folder that holds the folders of studies")
    opf: str | None = Field(default=None, description="folder or hub name of the OpenAI Privacy Filter; none: left out")
    workers: int = Field(default=1, ge=1, description="processes that score")

    @property
    def study(self) -> StudyName:
        """Which study."""
        return self.scale.study

    @property
    def home(self) -> Path:
        """Where everything of it goes."""
        return self.output.resolve() / f"{self.study}-{self.size}"

    @property
    def corpus(self) -> Path:
        """Where its corpus is."""
        return self.home / "corpus"

    def scoring(self, split: str) -> ScoreRun:
        """Return how a split of the corpus is scored."""
        columns = Columns(messages="messages", id="id", group="group", labelled="labelled", strata=("kind", "task"))
        return ScoreRun(
            dataset=split,
            root=self.home / "scores",
            input=InputConfig(paths=(self.corpus / f"chats/{split}.parquet",), columns=columns),
            model=ReferenceModel(name=self.scale.reference, context=self.scale.context),
            workers=self.workers,
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that models are trained from.

    Attributes:
        levels: policies.
        first: a job with corpus, masks and scale of all models; its cell is the first one.
        cells: every model, in order.
        setup: what the report says of it.
    """

    levels: Levels
    first: CellJob
    cells: tuple[Cell, ...]
    setup: Setup


@flow(name="masking-study")
def masking_study(run: StudyRun, only: Sequence[str] = ()) -> Study:
    """Do all of a study that is not done yet; tables and pictures are written after every seed.

    Args:
        run: the study.
        only: names of methods; the others are not trained now. None means all.

    Raises:
        InputUnfit, TooFewTasks, ProgramFailed, SandboxUnavailable: see ``flows.corpus``.
        ModelMissing, ModelUnfit, BackendUnavailable: the reference model is not there.
        MaskingUnfit, TrainingStopped, OutputTaken: see ``tasks.training.masked.steps``.
    """
    prepared = prepare(run)
    chosen = [cell for cell in prepared.cells if not only or cell.method.name in only]
    tell = _teller(len(chosen))
    done: list[CellResult] = []
    for seed in run.scale.seeds:
        for cell in (each for each in chosen if each.seed == seed):
            done.append(tell(run_cell(_job(prepared.first, cell))))
        write_report(run.home, _study(prepared, run))
    return _study(prepared, run)


def prepare(run: StudyRun) -> Prepared:
    """Make corpus, scores, policies and masks, as far as they are not there."""
    corpus = make_corpus(run)
    began = time.monotonic()
    for split in (HELD_OUT, TRAIN):
        score(run.scoring(split), "stale")
    _add_seconds(run.home / SCORING, time.monotonic() - began)
    scores = run.home / "scores"
    levels = find_levels(run.home / "policies", scores / HELD_OUT, run.study, run.scale.methods.recalls)
    masks = make_masks(run.home, scores / TRAIN, run.scoring(TRAIN).input, levels.policies, run.scale, run.opf)
    told = read_coverage(masks)
    rows = methods(run.scale.methods, list(told["maskings"]))
    planned = tuple(cells(rows, run.scale.seeds))
    first = CellJob(
        cell=planned[0],
        corpus=run.corpus,
        corpus_sha256=spec_hash({name: file.sha256 for name, file in corpus.files.items()}),
        masks=masks,
        root=run.home / "models",
        scale=run.scale,
    )
    held_out, train = read_scores(scores, HELD_OUT), read_scores(scores, TRAIN)
    setup = Setup(
        study=run.study,
        size=run.size,
        reference=train.reference.model,
        trained_tokens=train.tokens.size,
        calibration_tokens=held_out.tokens.size,
        scoring_s=_seconds(run.home / SCORING),
        yardsticks=measure_yardsticks(run.corpus, masks),
        counts={name: dict(kinds) for name, kinds in corpus.counts.items() if name.startswith("chats/")},
        calibration=levels.figures,
        missing=levels.missing,
        has_filter=run.opf is not None,
        scale=run.scale,
        cores=usable_cores(),
    )
    return Prepared(levels, first, planned, setup)


def make_corpus(run: StudyRun) -> CorpusManifest:
    """Make the corpus, unless it is there; what is there of another size is made anew."""
    asked = run.scale.corpus.made()
    held = files.read(run.corpus / MANIFEST)
    if held is not None:
        there = CorpusManifest.model_validate_json(held)
        if dict(there.config) == asked.model_dump(mode="json"):
            return there
    match run.scale.corpus:
        case PrivateCorpus():
            return make_code_pii(run.scale.corpus.made(), run.corpus, workers=usable_cores())
        case HabitCorpus():
            return make_code_quirks(run.scale.corpus.made(), run.corpus, workers=usable_cores())


def _job(first: CellJob, cell: Cell) -> CellJob:
    return CellJob(cell, first.corpus, first.corpus_sha256, first.masks, first.root, first.scale)


def _study(prepared: Prepared, run: StudyRun) -> Study:
    """Return what is known so far, from the models that are done."""
    found = [_job(prepared.first, cell).found() for cell in prepared.cells]
    return Study(prepared.setup, tuple(each for each in found if each is not None), planned=len(prepared.cells))


def _teller(total: int) -> Callable[[CellResult], CellResult]:
    """Return what tells of each model how it did, and how long the others may take."""
    began, told = time.monotonic(), 0

    def tell(result: CellResult) -> CellResult:
        nonlocal told
        told += 1
        left = (time.monotonic() - began) / told * (total - told) / 60
        sys.stderr.write(
            f"{told} of {total}: {result.method.name}, seed {result.seed}: privacy {result.privacy:.1%},"
            f" gold NLL {result.useful.gold_nll:.3f}; about {left:.0f} min to go\n"
        )
        return result

    return tell


def _add_seconds(path: Path, seconds: float) -> None:
    files.put(path, json.dumps({"seconds": round(_seconds(path) + seconds, 1)}).encode())


def _seconds(path: Path) -> float:
    """Return what scoring took in all calls, a few seconds of planning each among them."""
    held = files.read(path)
    return 0.0 if held is None else float(json.loads(held)["seconds"])
