"""A study as Markdown, JSON and pictures, from whatever models are done."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tasks.masking_study.config import Scale, ScaleName, StudyName
from tasks.masking_study.report import pictures, tables
from tasks.masking_study.report.findings import Finding, findings
from tasks.masking_study.report.paper import Paper, paper_on
from tasks.masking_study.report.rows import MethodRow, rows_of
from tasks.masking_study.results import CellResult
from tasks.masking_study.yardsticks import Yardsticks
from tasks.training.masked.config import FromScratch

PAGE, FIGURES, TRADEOFF, COVERAGE = "study.md", "study.json", "tradeoff.png", "coverage.png"
_TITLES: Mapping[StudyName, str] = {"code-pii": "Code PII", "code-quirks": "Code Quirks"}
_LEAKS: Mapping[StudyName, str] = {"code-pii": "values extracted approximately", "code-quirks": "habits on display"}


@dataclass(frozen=True)
class Setup:
    """What all models of a study share.

    Attributes:
        study: which one.
        size: of it.
        reference: the model whose surprise decides, with its hash.
        trained_tokens: of the training split, scored.
        calibration_tokens: of the calibration split.
        scoring_s: seconds that scoring took.
        yardsticks: NLL of the gold answers without a model.
        counts: chats of each split by kind.
        calibration: figures of each policy.
        missing: why a target recall has no policy.
        has_filter: the OpenAI Privacy Filter was at hand.
        scale: all numbers of the study.
        cores: of the machine.
    """

    study: StudyName
    size: ScaleName
    reference: str
    trained_tokens: int
    calibration_tokens: int
    scoring_s: float
    yardsticks: Yardsticks
    counts: Mapping[str, Mapping[str, int]]
    calibration: dict[str, dict[str, Any]]
    missing: Mapping[str, str]
    has_filter: bool
    scale: Scale
    cores: int


@dataclass(frozen=True)
class Study:
    """A study as far as it got.

    Attributes:
        setup: of all models.
        results: of those that are done, in the order of the plan.
        planned: how many there are to be.
    """

    setup: Setup
    results: tuple[CellResult, ...]
    planned: int


def write_report(folder: Path, study: Study) -> None:
    """Write ``study.md``, ``study.json`` and both pictures into a folder."""
    rows = rows_of(study.results)
    leak = _LEAKS[study.setup.study]
    (folder / PAGE).write_text(markdown(study), encoding="utf-8")
    (folder / FIGURES).write_text(json.dumps(_figures(study), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    (folder / TRADEOFF).write_bytes(pictures.tradeoff(rows, leak))
    (folder / COVERAGE).write_bytes(pictures.covered(rows, leak))


def markdown(study: Study) -> str:
    """Return the page: how it was made, what it shows, tables, pictures."""
    rows, paper = rows_of(study.results), paper_on(study.setup.study)
    parts = [
        f"## {_TITLES[study.setup.study]}, {study.setup.size}\n",
        _made(study, paper),
        _found(findings(rows)),
        *(table.markdown() for table in _tables(study, rows, paper)),
        f"![Privacy against utility]({TRADEOFF})\n",
        f"![Coverage against outcome]({COVERAGE})\n",
    ]
    return "\n".join(parts)


def _tables(study: Study, rows: list[MethodRow], paper: Paper) -> list[tables.Table]:
    setup = study.setup
    found = [tables.outcomes(rows, paper, setup.yardsticks.unigram)]
    if setup.study == "code-pii":
        found += [tables.kinds(rows, paper), tables.budgets(rows, paper), tables.actions(rows, paper)]
    else:
        found.append(tables.habits(rows))
    return [*found, tables.calibration(setup.calibration, rows, paper), tables.correlations(study.results)]


def _made(study: Study, paper: Paper) -> str:
    setup = study.setup
    training = setup.scale.training
    start = training.start
    model = (
        f"a {start.architecture} of {start.layers} layers of {start.width} from scratch"
        if isinstance(start, FromScratch)
        else start.name
    )
    chats = "; ".join(
        f"{name.removeprefix('chats/').removesuffix('.parquet')}: {sum(kinds.values()):,} chats"
        for name, kinds in setup.counts.items()
    )
    seconds = sum(each.trained.seconds + each.measuring_s for each in study.results)
    reference, _, digest = setup.reference.partition("@sha256:")
    lines = [
        f"- Models: {len(study.results)} of {study.planned} done; {model}, {training.settings.steps:,} steps of"
        f" {training.settings.train_batch_size} rows of {training.length} tokens.",
        f"- Reference: {reference}{f' ({digest[:12]})' if digest else ''}; {setup.trained_tokens:,} training and"
        f" {setup.calibration_tokens:,} calibration tokens scored.",
        f"- Data: {chats}.",
        f"- Took: scoring {setup.scoring_s / 60:.0f} min, all models {seconds / 60:.0f} min; {setup.cores} cores.",
        f"- Gold answers by token counts alone: {setup.yardsticks.unigram:.3f} nats a token; by chance"
        f" {setup.yardsticks.uniform:.3f}.",
        f"- The paper: {paper.source}.{f' In words: {paper.others}.' if paper.others else ''}",
        *_left_out(study.results),
        *(f"- No {name}: {reason}" for name, reason in setup.missing.items()),
        *([] if setup.has_filter else ["- No OpenAI Privacy Filter: its weights were not at hand (`--opf`)."]),
    ]
    return "\n".join(lines) + "\n"


def _left_out(results: Sequence[CellResult]) -> list[str]:
    most = max((each.useful.gold_left_out for each in results), default=0)
    return [f"- Gold answers too long for the model's window, in no mean: {most:,}."] if most else []


def _found(found: list[Finding]) -> str:
    body = tuple((each.claim, each.ours, "yes" if each.holds else "**no**") for each in found)
    return tables.Table("What the paper finds, and what we see", ("claim", "ours", "holds"), body).markdown()


def _figures(study: Study) -> dict[str, Any]:
    setup = study.setup
    told = {name: value for name, value in vars(setup).items() if name not in ("scale", "yardsticks")}
    return {
        **told,
        "yardsticks": asdict(setup.yardsticks),
        "scale": setup.scale.model_dump(mode="json"),
        "planned": study.planned,
        "findings": [asdict(each) for each in findings(rows_of(study.results))],
        "models": [each.model_dump(mode="json") for each in study.results],
    }
