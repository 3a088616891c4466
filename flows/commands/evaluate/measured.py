"""What `privasis evaluate extraction`, `quirks` and `utility` have in common."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flows.commands.errors import Code, RunFailed
from flows.config import ConfigError
from infra.packages import PackageMissing
from infra.sandbox.run import SandboxUnavailable
from infra.shards import files
from infra.shards.layout import Layout
from infra.shards.location import Location

if TYPE_CHECKING:
    from flows.measuring import MeasuredModel
    from tasks.measuring.answers import AnswerSettings, Form, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which model is measured, on what.

    Attributes:
        model: a folder, a hub name, an embedded model, or the URL of a server.
        corpus: folder that `privasis corpus` wrote.
        output: folder of the measurements of this model.
        form: what the model was trained on.
        tokenizer: of a served model.
        device: where a model of this process runs.
    """

    model: str
    corpus: Location
    output: Path
    form: "Form"
    tokenizer: str | None
    device: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How answers are drawn, where it is not as the paper does it for the corpus."""

    samples: int | None
    temperature: float | None
    top_p: float | None
    most_tokens: int | None
    seed: int


def opened(asked: Asked) -> "MeasuredModel":
    """Open the model.

    Raises:
        ConfigError: the output's name cannot be that of a folder of measurements.
        PackageMissing: torch or transformers are not installed.
        ModelMissing, BackendUnavailable: the model is not there.
    """
    home = asked.output.resolve()
    try:
        Layout(home.parent, home.name, "attempts", ())
    except ValueError as error:
        raise ConfigError(f"--output {asked.output}: {error}") from error
    try:
        from flows.measuring import open_model
    except ModuleNotFoundError as error:
        raise PackageMissing(f"package {error.name} is not installed: run `make setup-surprise`") from error
    return open_model(asked.model, asked.tokenizer, asked.device)


@contextmanager
def told() -> Iterator[None]:
    """Turn what a corpus, a prompt or a folder may have wrong into errors with an exit code.

    Raises:
        ConfigError: they do not fit each other.
        RunFailed: programs cannot be run here.
    """
    from tasks.measuring.answers import PromptUnusable
    from tasks.measuring.corpus.steps import CorpusUnfit
    from tasks.measuring.extraction.targets import TargetUnusable
    from tasks.measuring.steps import MeasuredOtherwise
    from tasks.training.answers import ChatUnfit, TemplateUnfit

    try:
        yield
    except (ChatUnfit, CorpusUnfit, MeasuredOtherwise, PromptUnusable, TargetUnusable, TemplateUnfit) as error:
        raise ConfigError(str(error)) from error
    except SandboxUnavailable as error:
        raise RunFailed(str(error), Code.OUTSIDE) from error


def answers_to(
    model: "MeasuredModel", asked: Asked, drawing: Drawing
) -> "tuple[list[Question], AnswerSettings, dict[str, list[str]]]":
    """Ask the tasks of the corpus that are not answered yet, and return them with the settings and all answers.

    Raises:
        CorpusUnfit: the corpus lacks a file or a column.
        MeasuredOtherwise: the output holds answers to more prompts.
        PromptUnusable: a prompt cannot be asked of this model.
    """
    from tasks.measuring.corpus.steps import read_questions
    from tasks.measuring.steps import write_answers

    settings = settings_for(asked, drawing)
    questions = read_questions(asked.corpus, asked.form)
    sys.stderr.write(f"{len(questions):,} prompts, {settings.samples} answers each\n")
    return questions, settings, write_answers(asked.output, model.answerer, questions, settings)


def settings_for(asked: Asked, drawing: Drawing) -> "AnswerSettings":
    """Return the paper's settings for the corpus, with what was asked for otherwise."""
    from tasks.measuring.answers import CODE_QUIRKS, CODE_QUIRKS_PRETRAINED, AnswerSettings
    from tasks.measuring.corpus.steps import has_quirks

    if not has_quirks(asked.corpus):
        papers = AnswerSettings(form=asked.form)
    else:
        papers = CODE_QUIRKS if asked.form == "chats" else CODE_QUIRKS_PRETRAINED
    wanted = {
        "samples": drawing.samples,
        "temperature": drawing.temperature,
        "top_p": drawing.top_p,
        "most_tokens": drawing.most_tokens,
    }
    changed = {name: value for name, value in wanted.items() if value is not None}
    return papers.model_copy(update={**changed, "seed": drawing.seed})


def write_result(output: Path, name: str, text: str) -> Path:
    """Write a file of results beside the measurements, and return where."""
    path = output / name
    files.put(path, text.encode())
    return path
