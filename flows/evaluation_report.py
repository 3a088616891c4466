"""What an evaluation found: figures for a program, and a page for a person."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from flows.evaluate import scores_of
from infra.shards import files
from infra.shards.location import Location
from infra.shards.store import StageStore
from tasks.evaluation.report.page import evaluation_page
from tasks.evaluation.report.view import EvaluationView, failed_records
from tasks.evaluation.splitting.steps import read_splits
from tasks.evaluation.steps import EvaluationJob
from tasks.evaluation.store.steps import evaluations_of


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report and where it is."""

    page: EvaluationView
    html: Location
    json: Location


def write_report(job: EvaluationJob) -> WrittenReport:
    """Write page and figures of an evaluation beside its folder, with the data set's other evaluations in its tables.

    Raises:
        ManifestCorrupt, SchemaMismatch, TableDamaged: what was committed cannot be read.
    """
    view = _view(job)
    folder = job.store().layout.manifest.parents[2]  # <root>/<data set>/evaluations
    html, figures = folder / f"{job.name}.html", folder / f"{job.name}.json"
    files.put(html, evaluation_page(view).encode())
    files.put(figures, to_json(view).encode())
    return WrittenReport(view, html, figures)


def _view(job: EvaluationJob) -> EvaluationView:
    splits = read_splits(job.root, job.dataset)
    failed = tuple(
        record
        for shard in job.store().manifest.shards()
        for record in failed_records(job.store().read_shard("evaluations", shard).to_pylist(), splits)
    )
    return EvaluationView(
        name=job.name,
        dataset=job.dataset,
        sanitizer=job.sanitizer.name,
        evaluator=job.evaluator.endpoint.model,
        second_evaluator=job.second.endpoint.model if job.second else None,
        sets=scores_of(job.root, job.dataset, job.store()),
        others={name: scores_of(job.root, job.dataset, store) for name, store in _others(job).items()},
        failed=failed,
    )


def _others(job: EvaluationJob) -> dict[str, StageStore]:
    return {name: store for name, store in evaluations_of(job.root, job.dataset).items() if name != job.name}


def to_json(view: EvaluationView) -> str:
    """Write the figures for a program, under their names and unrounded: fractions of one."""
    figures: dict[str, Any] = {
        "name": view.name,
        "dataset": view.dataset,
        "sanitizer": view.sanitizer,
        "evaluator": view.evaluator,
        "second_evaluator": view.second_evaluator,
        "sets": {name: asdict(scores) for name, scores in view.sets.items()},
        "others": {
            other: {name: asdict(scores) for name, scores in sets.items()} for other, sets in view.others.items()
        },
    }
    return json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False)
