"""Tables of calibration and evaluation in a terminal; names from data go through ``visible`` and never as markup."""

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tasks.report.formats import NOTHING, count, fixed, percent
from tasks.report.marks import visible
from tasks.surprise.calibrate import NoPoint, Point
from tasks.surprise.evaluation.calibration import Calibration
from tasks.surprise.evaluation.results import Figures, Result, auroc_of
from tasks.surprise.evaluation.transfer import TransferTable

MOST_CATEGORIES = 30
MOST_COLUMNS = 4  # methods side by side; more stand below each other


def render_calibration(calibration: Calibration) -> RenderableType:
    """Show the operating points, the chosen threshold and the advice."""
    curve = calibration.curve
    head = Text(
        f"{calibration.documents:,} labelled documents, {calibration.spans:,} spans;"
        f" {curve.targets:,} private {calibration.unit}s of {curve.targets + curve.others:,};"
        f" AUROC {fixed(auroc_of(curve), 3)}; F1 of masking everything {fixed(calibration.mask_everything_f1, 3)}"
    )
    table = _table(("", "threshold", "recall", "collateral", "precision", "F1"))
    for each in calibration.operating:
        table.add_row(Text(each.name), *_point_cells(each.point))
    table.add_section()
    table.add_row(Text("chosen", "bold"), *_point_cells(calibration.chosen), style="bold cyan")
    parts: list[RenderableType] = [head, Text(), Text("operating points", "italic"), table]
    parts += [Text(line, "dim") for line in _without_threshold(calibration)]
    if calibration.result is not None and len(calibration.result.categories) > 1:
        parts += [Text(), _categories([calibration.result])]
    return Group(*parts, Text(), *(_advised(sentence) for sentence in calibration.advice))


def _without_threshold(calibration: Calibration) -> Iterator[str]:
    """Say why operating points have no threshold, each reason once; that of the chosen point is in the advice."""
    names: dict[str, list[str]] = {}
    for each in calibration.operating:
        if isinstance(each.point, NoPoint) and each.point != calibration.chosen:
            names.setdefault(each.point.reason, []).append(each.name)
    for reason, those in names.items():
        yield f"{', '.join(those)}: no threshold: {reason}"


def render_results(results: Sequence[Result], unit: str) -> RenderableType:
    """Show several methods side by side, overall and for each category."""
    everything = next((result.overall.counts.mask_everything_f1 for result in results), None)
    title = Text(f"by {unit}; F1 of masking everything {fixed(everything, 3)}", "italic")
    table = _table(("method", "threshold", "recall", "collateral", "precision", "F1", "AUROC", "masked"))
    for result in results:
        table.add_row(Text(visible(result.method)), _threshold(result.threshold), *_cells(result.overall))
    parts: list[RenderableType] = [title, table]
    if any(len(result.categories) > 1 for result in results):
        parts += [Text(), _categories(results)]
    return Group(*parts)


def render_transfer(table: TransferTable) -> RenderableType:
    """Show F1 by the group a threshold comes from and the group it is used on, as SM Table 12."""
    where = "on other documents" if table.held_out else "on the documents it was found on: no held-out figures"
    title = Text(f"F1 of thresholds transferred across {visible(table.by)}, {where}", "italic")
    shown = _table(("calibrated on", "threshold", "there", *map(visible, table.groups)))
    reasons: list[RenderableType] = []
    for source, point in table.table.calibrated.items():
        name = Text(visible(source))
        if isinstance(point, NoPoint):
            shown.add_row(name, NOTHING, NOTHING, *(NOTHING for _ in table.groups))
            reasons.append(Text(visible(f"{source}: {point.reason}"), "dim"))
            continue
        cells = []
        for used_on in table.groups:
            counts = table.table.counts.get((source, used_on))
            cells.append(Text(fixed(counts.f1 if counts else None, 3), "bold" if source == used_on else ""))
        shown.add_row(name, _threshold(point.threshold), fixed(point.counts.f1, 3), *cells)
    return Group(title, shown, *reasons)


def _categories(results: Sequence[Result]) -> RenderableType:
    sizes = {name: each.counts.targets for result in results for name, each in result.categories.items()}
    shown = sorted(sizes, key=lambda name: (-sizes[name], name))
    title = Text("F1 of each category, other categories left out", "italic")
    many = len(results) > MOST_COLUMNS
    table = _table(("category", "units", *(["method", "F1"] if many else _names(results))))
    for name in shown[:MOST_CATEGORIES]:
        scores = [_f1(result, name) for result in results]
        head = (Text(visible(name)), count(sizes[name]))
        if not many:
            table.add_row(*head, *scores)
            continue
        for place, (method, score) in enumerate(zip(_names(results), scores, strict=True)):
            table.add_row(*(("", "") if place else head), Text(method), score)
    if len(shown) > MOST_CATEGORIES:
        table.add_row(Text(f"and {len(shown) - MOST_CATEGORIES} more, in the JSON", "dim"))
    return Group(title, table)


def _f1(result: Result, category: str) -> str:
    figures = result.categories.get(category)
    return NOTHING if figures is None else fixed(figures.counts.f1, 3)


def _names(results: Iterable[Result]) -> list[str]:
    return [visible(result.method) for result in results]


def _table(headings: Sequence[str]) -> Table:
    """Make a table without a title: its own would be broken to its width, and it may be narrow."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(headings):
        table.add_column(Text(heading), justify="left" if place == 0 else "right", overflow="fold")
    return table


def _point_cells(point: Point | NoPoint) -> list[str | Text]:
    if isinstance(point, NoPoint):
        return [NOTHING] * 5
    counts = point.counts
    shares = (percent(counts.tpr), percent(counts.fpr), percent(counts.precision))
    return [_threshold(point.threshold), *shares, fixed(counts.f1, 3)]


def _cells(figures: Figures) -> list[str]:
    counts = figures.counts
    return [
        percent(counts.tpr),
        percent(counts.fpr),
        percent(counts.precision),
        fixed(counts.f1, 3),
        fixed(figures.auroc, 3),
        percent(counts.masked_share),
    ]


def _threshold(threshold: float | None) -> str:
    return NOTHING if threshold is None else f"{threshold:.6g}"


def _advised(sentence: str) -> Text:
    return Text.assemble(("• ", "bold yellow"), visible(sentence))
