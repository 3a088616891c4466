"""A study as Markdown: our figures beside the paper's, means and deviations over folds."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tasks.corpora.study.benchmarks import Benchmark, Prepared
from tasks.corpora.study.judge import SM, Judged, Row
from tasks.corpora.study.paper import Paper, Reported
from tasks.surprise.calibrate import Point
from tasks.surprise.evaluation.presets import Setting
from tasks.surprise.evaluation.results import Figures
from tasks.surprise.evaluation.transfer import TransferTable

NONE = "–"
_CATEGORIES = 20  # as many as a page holds; all are in the JSON


@dataclass(frozen=True)
class Effort:
    """What a study took.

    Attributes:
        tokens: that were scored.
        scoring_s: seconds of it, of all runs that it took; None where scores of another run were used.
        judging_s: seconds of the rest.
        machine: where, in words.
    """

    tokens: int
    scoring_s: float | None
    judging_s: float
    machine: str


def markdown(
    benchmark: Benchmark,
    setting: Setting,
    reference: str,
    prepared: Prepared,
    judged: Judged,
    paper: Paper,
    effort: Effort,
    picture: str,
) -> str:
    """Write the page: what was counted, methods, why there is no threshold, categories, transfer, the picture."""
    parts = [
        f"## {benchmark.title}\n",
        _setup(setting, reference, prepared, paper, effort),
        _methods(judged.rows, paper),
        *([_reasons(judged.rows)] if any(row.reason for row in judged.rows) else []),
        *([_categories(judged.rows)] if _kinds(judged.rows) else []),
        *(_transfer(by, tables) for by, tables in judged.transfers.items()),
        f"ROC curves of Surprise Masking, first split:\n\n![ROC curves]({picture})\n",
    ]
    return "\n".join(parts)


def _setup(setting: Setting, reference: str, prepared: Prepared, paper: Paper, effort: Effort) -> str:
    sizes = ", ".join(
        f"{each.found:,} {each.what}" + ("" if each.found == each.published else f" (**{each.published:,} published**)")
        for each in prepared.counted
    )
    folds = len(prepared.folds)
    scoring = "scored before" if effort.scoring_s is None else f"{effort.scoring_s:,.0f} s"
    return (
        f"- Setting: {setting.about}; goal {setting.goal.kind} on validation; counted: {setting.unit}s.\n"
        f"- Reference: ours {_shown(reference)}; the paper's {paper.reference}. The paper's figures: {paper.source}.\n"
        f"- Data: {sizes}; {len(prepared.rejects):,} rows not used; {folds} split{'s' if folds > 1 else ''}.\n"
        f"- Took: {effort.tokens:,} tokens, scoring {scoring}, the rest {effort.judging_s:,.0f} s; {effort.machine}.\n"
    )


def _shown(reference: str) -> str:
    """Name a model with as much of its hash as a person compares; the whole is in the JSON."""
    name, sign, digest = reference.partition("@sha256:")
    return f"{name}{sign}{digest[:12]}"


def _methods(rows: Sequence[Row], paper: Paper) -> str:
    head = [
        "part",
        "method",
        "precision",
        "recall",
        "collateral",
        "F1",
        "mask all F1",
        "AUROC",
        "paper F1",
        "paper AUROC",
    ]
    body = []
    parts = list(dict.fromkeys(row.part for row in rows))
    for part in parts:
        methods = list(dict.fromkeys(row.method for row in rows if row.part == part))
        given = paper.rows.get(part, {})
        for method in methods:
            of_method = [row for row in rows if (row.part, row.method) == (part, method)]
            body.append([part, method, *_measured(of_method, _splits(rows, [part])), *_given(given.get(method))])
        body += [_only_reported(part, name, given[name]) for name in given if name not in methods]
    applications = [part for part in parts if part != rows[0].part]
    if len(applications) > 1:
        body += _means(rows, applications, paper)
    return _table(head, body)


def _splits(rows: Sequence[Row], parts: Sequence[str]) -> int:
    """How many figures a method has in all, one a split and a part, where none is missing."""
    return len({(row.fold, row.part) for row in rows if row.part in parts})


def _measured(rows: Sequence[Row], of: int, *, deviation: bool = True) -> list[str]:
    figures: list[Callable[[Figures], float | None]] = [
        lambda each: each.counts.precision,
        lambda each: each.counts.tpr,
        lambda each: each.counts.fpr,
        lambda each: each.counts.f1,
        lambda each: each.counts.mask_everything_f1,
    ]
    found = [[None if row.figures is None else figure(row.figures) for row in rows] for figure in figures]
    return [_spread(values, of, deviation=deviation) for values in (*found, [row.auroc for row in rows])]


def _means(rows: Sequence[Row], applications: Sequence[str], paper: Paper) -> list[list[str]]:
    """Means over applications, as the paper's last row: of precisions, of F1s, not of counts."""
    body = []
    given = paper.rows.get("mean", {})
    methods = list(dict.fromkeys(row.method for row in rows))
    for method in methods:
        of_method = [row for row in rows if row.method == method and row.part in applications]
        cells = _measured(of_method, _splits(rows, applications), deviation=False)
        body.append(["mean", method, *cells, *_given(given.get(method))])
    return body + [_only_reported("mean", name, given[name]) for name in given if name not in methods]


def _only_reported(part: str, method: str, reported: Reported) -> list[str]:
    return [part, f"{method} (paper only)", *[NONE] * 6, *_given(reported)]


def _given(reported: Reported | None) -> list[str]:
    return [NONE, NONE] if reported is None else [_number(reported.f1), _number(reported.auroc)]


def _reasons(rows: Sequence[Row]) -> str:
    told = dict.fromkeys(f"{row.method}, split {row.fold + 1}: {row.reason}" for row in rows if row.reason)
    return "Without a threshold:\n\n" + "".join(f"- {each}\n" for each in told)


def _kinds(rows: Sequence[Row]) -> list[str]:
    """Categories by their number of targets, if Surprise Masking has more than one."""
    targets: dict[str, int] = {}
    for row in rows:
        if row.method == SM and row.part != rows[0].part:
            for name, figures in row.categories.items():
                targets[name] = targets.get(name, 0) + figures.counts.targets
    return sorted(targets, key=lambda name: -targets[name]) if len(targets) > 1 else []


def _categories(rows: Sequence[Row]) -> str:
    methods = list(dict.fromkeys(row.method for row in rows if row.categories and row.method != "random"))
    judged = [row for row in rows if row.part != rows[0].part]
    kinds, of = _kinds(rows), len({(row.fold, row.part) for row in judged})
    body = []
    for kind in kinds[:_CATEGORIES]:
        with_kind = [[row for row in judged if row.method == method and kind in row.categories] for method in methods]
        f1s = [_spread([row.categories[kind].counts.f1 for row in found], of) for found in with_kind]
        body.append([kind, *f1s])
    rest = f"\n{len(kinds) - _CATEGORIES} rarer categories are in the JSON.\n" if len(kinds) > _CATEGORIES else ""
    return "F1 by category, without the targets of others:\n\n" + _table(["category", *methods], body) + rest


def _transfer(by: str, tables: Sequence[TransferTable]) -> str:
    groups = sorted({group for table in tables for group in table.groups})
    body = []
    for source in groups:
        points = [table.table.calibrated.get(source) for table in tables]
        own = _spread([point.counts.f1 if isinstance(point, Point) else None for point in points], len(tables))
        counts = {used: [table.table.counts.get((source, used)) for table in tables] for used in groups}
        cells = [_spread([None if each is None else each.f1 for each in counts[used]], len(tables)) for used in groups]
        body.append([source, own, *cells])
    head = ["calibrated on", "validation", *(f"used on {group}" for group in groups)]
    return f"F1 of Surprise Masking with the threshold of one {by} on others:\n\n" + _table(head, body)


def _spread(values: Sequence[float | None], of: int, *, deviation: bool = True) -> str:
    """Mean and deviation of those that are known, and how many of ``of`` that are."""
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    mean = _number(statistics.fmean(known))
    spread = f" ± {statistics.stdev(known):.3f}" if deviation and len(known) > 1 else ""
    missing = f" ({len(known)} of {of})" if len(known) < of else ""
    return f"{mean}{spread}{missing}"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(map(_escaped, row))} |\n" for row in rows)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
