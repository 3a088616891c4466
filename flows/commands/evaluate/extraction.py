"""``privasis evaluate extraction``: attack a model, and show how many values it gives away."""

import sys
import time
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.evaluate.measured import Asked, opened, told, write_result
from flows.config import ConfigError
from tasks.report.formats import count, fixed
from tasks.report.marks import visible

if TYPE_CHECKING:
    from tasks.measuring.extraction.attack import ExtractionResult, ExtractionSettings
    from tasks.measuring.extraction.targets import Regime, Tokenization

PAPER_BUDGETS = (1, 8, 16, 32, 64, 128)


def run(
    asked: Asked, regime: "Regime | None", tokenization: "Tokenization", samples: int, seed: int, *, as_json: bool
) -> None:
    """Attack what is not attacked yet, write the figures and the page, and show them.

    Raises:
        ConfigError: the corpus holds no such values, or the output is of another one.
        ModelMissing, BackendUnavailable: the model is not there.
    """
    from tasks.measuring.corpus.steps import read_targets
    from tasks.measuring.extraction.targets import split_all
    from tasks.measuring.report.figures import extraction_figures, to_json
    from tasks.measuring.report.page import extraction_page
    from tasks.measuring.steps import attack_model

    settings = settings_of(asked, regime, tokenization, samples, seed)
    with told():
        targets = read_targets(asked.corpus, asked.form)
        model = opened(asked)
        splits = split_all(targets, model.tokenizer, settings.regime, settings.tokenization)
        if model.start is None and any(not split.revealed for split in splits):
            raise ConfigError(f"{model.name}: a value of one token, and a tokenizer without a token to start from")
        sys.stderr.write(f"{len(targets):,} values, {samples} continuations each\n")
        began = time.monotonic()
        result = attack_model(asked.output, model.sampler, targets, splits, settings, model.start)
    sys.stderr.write(f"done in {time.monotonic() - began:,.0f} s\n")
    figures = to_json(extraction_figures(result))
    path = write_result(asked.output, "extraction.json", figures)
    page = write_result(asked.output, "extraction.html", extraction_page(result))
    if as_json:
        sys.stdout.write(figures)
        return
    console = Console()
    console.print(table(result))
    console.print(Text(f"Written: {path}, {page}; each continuation: {asked.output / 'attempts'}"), soft_wrap=True)


def settings_of(
    asked: Asked, regime: "Regime | None", tokenization: "Tokenization", samples: int, seed: int
) -> "ExtractionSettings":
    """Return the settings of the attack: the prefix is rounded as the paper does it for what was trained on."""
    from tasks.measuring.extraction.attack import ExtractionSettings

    return ExtractionSettings(
        regime=regime or ("fine_tuning" if asked.form == "chats" else "pretraining"),
        tokenization=tokenization,
        samples=samples,
        budgets=tuple(sorted({*(budget for budget in PAPER_BUDGETS if budget < samples), samples})),
        seed=seed,
    )


def table(result: "ExtractionResult") -> Table:
    """Show both shares by kind and number of continuations."""
    from tasks.measuring.report.page import kinds

    title = "Values found within b continuations, in %"
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    shown.add_column("values", no_wrap=True)
    shown.add_column("number", justify="right")
    shown.add_column("match", no_wrap=True)
    for budget in result.settings.budgets:
        shown.add_column(f"b={budget}", justify="right", no_wrap=True)
    for kind in kinds(result):
        for match, name in (("approximate", "approx."), ("exact", "exact")):
            shares = [getattr(result.rate(budget, kind), match) for budget in result.settings.budgets]
            cells = [fixed(None if share.value is None else 100 * share.value) for share in shares]
            shown.add_row(Text(visible(kind)), count(shares[0].of), name, *cells)
    return shown
