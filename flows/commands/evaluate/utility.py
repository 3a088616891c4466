"""``privasis evaluate utility``: do a model's answers pass their tests, and how likely does it find the gold ones?"""

import sys
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.evaluate.measured import Asked, Drawing, answers_to, opened, told, write_result
from flows.config import ConfigError
from infra.engines.cores import usable_cores
from infra.sandbox.run import Limits
from tasks.report.formats import count, fixed, percent

if TYPE_CHECKING:
    from flows.measuring import MeasuredModel
    from tasks.measuring.utility.gold import GoldResult
    from tasks.measuring.utility.passing import Passing
    from tasks.training.examples import Example

SECONDS = {False: 90, True: 20}  # SM B.2, and B.3 for a corpus with quirks


def run(asked: Asked, drawing: Drawing, seconds: int | None, *, as_json: bool) -> None:
    """Answer, run and score what is not done yet, write the figures, and show them.

    Raises:
        ConfigError: the corpus holds no tasks, or the output is of another one.
        RunFailed: programs cannot be run here.
        ModelMissing, BackendUnavailable: the model is not there.
    """
    from tasks.measuring.corpus.steps import has_quirks
    from tasks.measuring.report.figures import to_json, utility_figures
    from tasks.measuring.steps import judge_answers
    from tasks.measuring.utility.passing import passing

    limit = seconds or SECONDS[has_quirks(asked.corpus)]
    limits = Limits(wall_s=limit, cpu_s=limit)
    with told():
        model = opened(asked)
        gold, left_out = gold_of(model, asked)
        questions, settings, answers = answers_to(model, asked, drawing)
        judged = judge_answers(asked.output, answers, questions, limits, usable_cores())
    rates = passing(judged, settings.samples)
    figures = to_json(utility_figures(model.name, settings.model_dump(mode="json"), rates, gold, left_out))
    path = write_result(asked.output, "utility.json", figures)
    if as_json:
        sys.stdout.write(figures)
        return
    console = Console()
    console.print(table(rates, gold, left_out))
    console.print(Text(f"Written: {path}; each answer: {asked.output / 'answers'}"), soft_wrap=True)


def gold_of(model: "MeasuredModel", asked: Asked) -> "tuple[GoldResult | None, int]":
    """Score the gold answers that fit into the model's window, and count the others.

    There is no result for a model on a server, whose likelihoods are not asked for.

    Raises:
        CorpusUnfit: the corpus lacks a file or a column.
        ChatUnfit, TemplateUnfit: the chat template does not say what an answer is.
        MeasuredOtherwise: the output holds more gold answers.
        ConfigError: no gold answer fits.
    """
    from tasks.measuring.steps import measure_gold
    from tasks.measuring.utility.gold import gold_result

    if model.lm is None:
        return None, 0
    examples = _examples(model, asked)
    fitting = [each for each in examples if each.ids.size <= model.window]
    if not fitting:
        raise ConfigError(f"{model.name}: its window of {model.window} tokens holds none of the gold answers")
    return gold_result(measure_gold(asked.output, model.lm.model, model.name, fitting)), len(examples) - len(fitting)


def _examples(model: "MeasuredModel", asked: Asked) -> "list[Example]":
    from tasks.measuring.corpus.steps import read_gold_chats, read_gold_documents
    from tasks.measuring.gold_examples import chat_example, document_example
    from tasks.training.answers import Answers

    if asked.form == "documents":
        return [document_example(model.tokenizer, *row) for row in read_gold_documents(asked.corpus)]
    answers = Answers(model.tokenizer, sys.maxsize)  # what is too long for the model is counted, not refused
    return [chat_example(answers, *row) for row in read_gold_chats(asked.corpus)]


def table(passing: "Passing", gold: "GoldResult | None", left_out: int) -> Table:
    """Show pass@k, how answers ended, and the gold NLL."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    shown.add_column("figure")
    shown.add_column("value", justify="right")
    shown.add_column("of", style="dim")
    for rate in passing.rates:
        first = rate.first
        interval = f"{percent(first.low)} to {percent(first.high)} of {count(first.of)} prompts"
        shown.add_row(f"pass@{rate.k}", percent(first.value), f"{interval}; of any {rate.k}: {percent(rate.expected)}")
    answers = sum(passing.endings.values())
    for ending, many in passing.endings.items():
        shown.add_row(ending.replace("_", " "), count(many), f"of {count(answers)} answers")
    if gold is None:
        shown.add_row("gold NLL", "–", "measured where the model is loaded here, not on a server")
    else:
        error = "" if gold.standard_error is None else f" ± {fixed(gold.standard_error, 4)}"
        without = f"; {count(left_out)} too long for the model" if left_out else ""
        told_of = f"nats a token{error}, {count(gold.answers)} gold answers{without}"
        shown.add_row("gold NLL", fixed(gold.mean_nll, 4), told_of)
    return shown
