"""``privasis evaluate quirks``: how often a model writes as one of the users did."""

import sys
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.evaluate.measured import Asked, Drawing, answers_to, opened, told, write_result
from flows.config import ConfigError
from tasks.report.formats import count, percent
from tasks.report.marks import visible

if TYPE_CHECKING:
    from tasks.measuring.quirks.display import Display


def run(asked: Asked, drawing: Drawing, *, as_json: bool) -> None:
    """Ask what is not answered yet, look for quirks, write the figures, and show them.

    Raises:
        ConfigError: the corpus holds no quirks, the output is of another one, or there are too few answers.
        ModelMissing, BackendUnavailable: the model is not there.
    """
    from tasks.measuring.corpus.steps import read_applies
    from tasks.measuring.quirks.display import FIRST, display, look
    from tasks.measuring.report.figures import quirk_figures, to_json

    if drawing.samples is not None and drawing.samples < FIRST:
        raise ConfigError(f"--samples {drawing.samples}: display@{FIRST} looks at {FIRST} answers")
    with told():
        applies = read_applies(asked.corpus)
        model = opened(asked)
        questions, settings, answers = answers_to(model, asked, drawing)
    asked_ids = {question.id for question in questions}
    shown = display(
        [look(question.id, answers[question.id]) for question in questions],
        {quirk: [id_ for id_ in ids if id_ in asked_ids] for quirk, ids in applies.items()},
    )
    figures = to_json(quirk_figures(model.name, settings.model_dump(mode="json"), shown))
    path = write_result(asked.output, "quirks.json", figures)
    if as_json:
        sys.stdout.write(figures)
        return
    console = Console()
    console.print(table(shown))
    console.print(Text(f"Written: {path}; each answer: {asked.output / 'answers'}"), soft_wrap=True)


def table(display: "Display") -> Table:
    """Show the rate of each quirk and their mean."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=True)
    mean = f"mean of {len(display.quirks)}"
    shown.add_column(
        "quirk", footer=f"{mean}\nno Python: {count(display.unparsable)} of {count(display.answers)} answers"
    )
    shown.add_column(f"display@{display.first}", justify="right", footer=percent(display.mean))
    shown.add_column("95 %", justify="right")
    shown.add_column("prompts", justify="right")
    for quirk, rate in display.quirks.items():
        interval = f"{percent(rate.low)} to {percent(rate.high)}"
        shown.add_row(Text(visible(quirk)), percent(rate.value), interval, count(rate.of))
    return shown
