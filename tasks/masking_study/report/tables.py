"""The tables of a study, as headings and cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tasks.masking_study.report.paper import Paper
from tasks.masking_study.report.rows import (
    NONE,
    MethodRow,
    collateral,
    coverage,
    exact,
    gold_nll,
    passed,
    percent,
    privacy,
    shown,
)
from tasks.masking_study.results import CellResult
from tasks.masking_study.statistics import pearson


@dataclass(frozen=True)
class Table:
    """A table: its title, what stands above its columns, and its rows."""

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Write it: the first column left, the others right."""
        rule = ("---", *("---:" for _ in self.head[1:]))
        lines = [f"| {' | '.join(row)} |" for row in (self.head, rule, *self.body)]
        return f"**{self.title}**\n\n" + "\n".join(lines) + "\n"


def outcomes(rows: Sequence[MethodRow], paper: Paper, baseline: float | None) -> Table:
    """Every method by its loss: coverage, privacy, utility, the paper's figures (SM Figures 2 to 4, Tables 6 and 9).

    Args:
        rows: of all methods.
        paper: its figures.
        baseline: gold NLL of counting tokens; it is the last row.
    """
    values = bool(rows) and bool(rows[0].results[0].extracted)
    leak = "extracted, approx." if values else "display@5"
    head = ["method", "seeds", "targets masked", "others masked", leak]
    head += [*(["extracted, exact"] if values else []), "gold NLL", "pass@5", f"paper: {leak}", "paper: pass@5"]
    body = [
        (
            row.name,
            str(len(row.results)),
            shown(row.mean(coverage)),
            shown(row.mean(collateral)),
            shown(row.mean(privacy)),
            *([shown(row.mean(exact))] if values else []),
            shown(row.mean(gold_nll), 3),
            shown(row.mean(passed)),
            paper.shown("approximate" if values else "display", row.name),
            paper.shown("pass5", row.name),
        )
        for row in rows
        if row.method.action == "loss"
    ]
    if baseline is not None:
        alone = {"method": "*token counts alone*", "gold NLL": f"{baseline:.3f}"}
        body.append(tuple(alone.get(column, "") for column in head))
    return Table("Privacy and utility, in percent; mean ± standard error over seeds", tuple(head), tuple(body))


def actions(rows: Sequence[MethodRow], paper: Paper) -> Table:
    """What becomes of the same selection (SM Table 6)."""
    chosen = [row for row in rows if row.method.action != "loss"]
    of = {row.method.masking for row in chosen}
    compared = [row for row in rows if row.name == "unmasked" or row.name in of]
    body = [
        (
            row.name,
            shown(row.mean(privacy)),
            paper.shown("approximate", row.name),
            shown(row.mean(exact)),
            paper.shown("exact", row.name),
            shown(row.mean(gold_nll), 3),
            shown(row.mean(passed)),
            paper.shown("pass5", row.name),
            shown(row.mean(lambda each: float(each.trained.documents)), 0),
        )
        for row in [*compared, *chosen]
    ]
    head = ("action", "approx.", "paper", "exact", "paper", "gold NLL", "pass@5", "paper", "documents")
    return Table("Actions on the same selection, in percent", head, tuple(body))


def kinds(rows: Sequence[MethodRow], paper: Paper) -> Table:
    """Approximate extraction by kind of value (SM Table 7)."""
    names = _kinds(rows)
    body = []
    for row in rows:
        given = paper.kinds.get(row.name, ())
        ours = (shown(row.mean(partial(_of_kind, kind=kind))) for kind in names)
        body.append((row.name, *ours, " / ".join(f"{value:.1f}" for value in given)))
    return Table("Extracted approximately, by kind, in percent", ("method", *names, "paper"), tuple(body))


def _kinds(rows: Sequence[MethodRow]) -> list[str]:
    return list(dict.fromkeys(each.kind for row in rows for each in row.results[0].extracted if each.kind != "all"))


def _of_kind(result: CellResult, kind: str) -> float | None:
    return percent(result.extraction(kind=kind))


def budgets(rows: Sequence[MethodRow], paper: Paper) -> Table:
    """Approximate extraction within the first b continuations (SM Table 8)."""
    asked = sorted({each.budget for row in rows for each in row.results[0].extracted})
    body = []
    for row in rows:
        if row.method.action == "loss":
            ours = (shown(row.mean(partial(_within, budget=budget))) for budget in asked)
            given = paper.budgets.get(row.name, ())
            body.append((row.name, *ours, " / ".join(f"{value:.1f}" for value in given)))
    head = ("method", *(f"b={budget}" for budget in asked), "paper")
    return Table("Extracted approximately within b continuations, in percent", head, tuple(body))


def _within(result: CellResult, budget: int) -> float | None:
    return percent(result.extraction(budget))


def habits(rows: Sequence[MethodRow]) -> Table:
    """Display by habit, and how many answers are Python at all."""
    first = rows[0].results[0].displayed
    names = [] if first is None else list(first.quirks)
    body = [
        (row.name, *(shown(row.mean(partial(_of_habit, quirk=quirk))) for quirk in names), shown(row.mean(_unparsable)))
        for row in rows
    ]
    head = ("method", *(name.replace("_", " ") for name in names), "no Python")
    return Table("display@5 by habit, and answers that are no Python, in percent", head, tuple(body))


def _of_habit(result: CellResult, quirk: str) -> float | None:
    return None if result.displayed is None else percent(result.displayed.quirks[quirk])


def _unparsable(result: CellResult) -> float | None:
    return None if result.displayed is None else 100 * result.displayed.unparsable / result.displayed.answers


def calibration(figures: dict[str, dict[str, Any]], rows: Sequence[MethodRow], paper: Paper) -> Table:
    """What each threshold did on the calibration split, and what its mask covers of the training data (SM Table 4)."""
    by_name = {row.name: row for row in rows}
    body = []
    for name, told in figures.items():
        chosen, row = told["chosen"], by_name.get(name)
        if chosen["threshold"] is None:
            body.append((name, NONE, NONE, NONE, NONE, NONE, paper.shown("coverage", name)))
            continue
        body.append(
            (
                name,
                f"{chosen['threshold']:.3f}",
                f"{100 * chosen['recall']:.1f}",
                f"{100 * chosen['collateral']:.1f}",
                NONE if row is None else shown(row.mean(coverage)),
                NONE if row is None else shown(row.mean(collateral)),
                paper.shown("coverage", name),
            )
        )
    head = ("policy", "threshold", "recall", "collateral", "training: targets", "training: others", "paper: targets")
    return Table("Calibration and training coverage, in percent", head, tuple(body))


def correlations(results: Sequence[CellResult]) -> Table:
    """How coverage goes with outcomes, over all models that mask the loss (SM Figure 4)."""
    used = [each for each in results if each.action == "loss" and coverage(each) is not None]
    pairs = (
        ("targets masked, privacy", coverage, privacy),
        ("others masked, gold NLL", collateral, gold_nll),
        ("others masked, pass@5", collateral, passed),
    )
    body = []
    for name, x, y in pairs:
        found = pearson([x(each) or 0.0 for each in used], [y(each) or 0.0 for each in used])
        body.append((name, NONE if found is None else f"{found:.3f}", str(len(used))))
    return Table("Pearson correlations over models", ("pair", "r", "models"), tuple(body))
