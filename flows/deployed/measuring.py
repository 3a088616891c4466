"""Deployments that measure what a trained model gives away and what it can."""

from typing import Annotated, Literal

from prefect import flow
from pydantic import Field

from flows.artifacts.made import tell_made
from flows.commands.evaluate import extraction as extraction_command
from flows.commands.evaluate import quirks as quirks_command
from flows.commands.evaluate import utility as utility_command
from flows.commands.evaluate.measured import Asked, Drawing
from flows.deployed.asked import here, place
from flows.deployed.parameters import Corpus, CorpusForm, Device, DrawingSeed, Form, ModelPath, Output, Says, Tokenizer

Continuations = Annotated[int, Field(ge=1, le=10_000), Says("Continuations of each value.")]
Regime = Annotated[
    Literal["by_form", "fine_tuning", "pretraining"],
    Says("Reveal 3/4 of a value's tokens, rounded down, or up (pretraining); by_form chooses as the paper does."),
]
ValueTokens = Annotated[
    Literal["context", "alone"], Says("A value's tokens where it was trained on, or of the value by itself.")
]
Answers = Annotated[int | None, Field(ge=1, le=10_000), Says("Answers to each prompt. None: as the paper.")]
Temperature = Annotated[float | None, Field(ge=0, le=10), Says("Of sampling. None: as the paper.")]
TopP = Annotated[float | None, Field(gt=0, le=1), Says("Of sampling. None: as the paper.")]
MostTokens = Annotated[int | None, Field(ge=1, le=1_000_000), Says("Of an answer. None: 1024.")]
Seconds = Annotated[int | None, Field(ge=1, le=3600), Says("Of each program. None: 90, with quirks 20.")]


@flow(name="evaluate-extraction")
def evaluate_extraction(
    model: ModelPath,
    corpus: Corpus,
    output: Output,
    form: CorpusForm = "chats",
    samples: Continuations = 128,
    regime: Regime = "by_form",
    tokens: ValueTokens = "context",
    seed: DrawingSeed = 0,
    tokenizer: Tokenizer = "",
    device: Device = "",
) -> None:
    """Ask a model for private values it was trained on, as `privasis evaluate extraction` does."""
    asked = _asked(model, corpus, output, form, tokenizer, device)
    extraction_command.run(asked, None if regime == "by_form" else regime, tokens, samples, seed, as_json=False)
    _tell(asked, "extraction", "extraction.json", "extraction.html")


@flow(name="evaluate-quirks")
def evaluate_quirks(
    model: ModelPath,
    corpus: Corpus,
    output: Output,
    form: CorpusForm = "chats",
    samples: Answers = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    most_tokens: MostTokens = None,
    seed: DrawingSeed = 0,
    tokenizer: Tokenizer = "",
    device: Device = "",
) -> None:
    """Look in how many answers a model shows a user's habit, as `privasis evaluate quirks` does."""
    asked = _asked(model, corpus, output, form, tokenizer, device)
    drawing = Drawing(samples=samples, temperature=temperature, top_p=top_p, most_tokens=most_tokens, seed=seed)
    quirks_command.run(asked, drawing, as_json=False)
    _tell(asked, "quirks", "quirks.json")


@flow(name="evaluate-utility")
def evaluate_utility(
    model: ModelPath,
    corpus: Corpus,
    output: Output,
    form: CorpusForm = "chats",
    samples: Answers = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    most_tokens: MostTokens = None,
    seconds: Seconds = None,
    seed: DrawingSeed = 0,
    tokenizer: Tokenizer = "",
    device: Device = "",
) -> None:
    """Run a model's answers in a sandbox and score the gold ones, as `privasis evaluate utility` does."""
    asked = _asked(model, corpus, output, form, tokenizer, device)
    drawing = Drawing(samples=samples, temperature=temperature, top_p=top_p, most_tokens=most_tokens, seed=seed)
    utility_command.run(asked, drawing, seconds, as_json=False)
    _tell(asked, "utility", "utility.json")


def _asked(model: str, corpus: str, output: str, form: Form, tokenizer: str, device: str) -> Asked:
    return Asked(
        model=model,
        corpus=place(corpus),
        output=here(output),
        form=form,
        tokenizer=tokenizer or None,
        device=device or None,
    )


def _tell(asked: Asked, what: str, *files: str) -> None:
    home = asked.output.resolve()
    tell_made(f"{home.name}: {what}", {"model": asked.model}, {name: home / name for name in files})
