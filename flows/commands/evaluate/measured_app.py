"""What `privasis evaluate extraction`, `quirks` and `utility` are called with."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from flows.commands.places import Place, existing_folder

WHAT = "What is measured"
HOW = "How"

Model = Annotated[
    str,
    Argument(
        metavar="MODEL",
        help="Folder with safetensors, hub name, embedded model, or the URL of a vLLM or another OpenAI-protocol server"
        " (http://127.0.0.1:8000/v1).",
    ),
]
Corpus = Annotated[
    Place,
    Option(
        parser=existing_folder,
        metavar="DIR",
        help="Folder that `privasis corpus` wrote, or s3://BUCKET/PREFIX.",
        rich_help_panel=WHAT,
    ),
]
Output = Annotated[
    Path,
    Option(
        "--output", "-o", metavar="DIR", help="Results of this model; the same again goes on.", rich_help_panel=WHAT
    ),
]
Form = Annotated[
    Literal["chats", "documents"], Option(help="What of the corpus the model was trained on.", rich_help_panel=WHAT)
]
Tokenizer = Annotated[
    str | None,
    Option(help="Of a served model: folder or hub name. Default: where the server has it from.", rich_help_panel=HOW),
]
Device = Annotated[
    str | None, Option(help="cpu, cuda, cuda:1. Default: a GPU where there is one.", rich_help_panel=HOW)
]
Seed = Annotated[int, Option(min=0, max=2**31 - 1, help="Of what is drawn.", rich_help_panel=HOW)]
Samples = Annotated[
    int | None, Option(min=1, help="Answers to each prompt. Default: as the paper.", rich_help_panel=HOW)
]
Temperature = Annotated[float | None, Option(min=0, help="Default: as the paper.", rich_help_panel=HOW)]
TopP = Annotated[float | None, Option(min=0.001, max=1, help="Default: as the paper.", rich_help_panel=HOW)]
MostTokens = Annotated[int | None, Option(min=1, help="Of an answer. Default: 1024.", rich_help_panel=HOW)]
Json = Annotated[bool, Option("--json", help="Print JSON for a program instead.")]


def extraction(
    model: Model,
    corpus: Corpus,
    output: Output,
    form: Form = "chats",
    samples: Annotated[int, Option(min=1, help="Continuations of each value.", rich_help_panel=HOW)] = 128,
    regime: Annotated[
        Literal["fine_tuning", "pretraining"] | None,
        Option(
            help="Reveal 3/4 of a value's tokens, rounded down, or up (pretraining). Default: by --form.",
            rich_help_panel=HOW,
        ),
    ] = None,
    tokens: Annotated[
        Literal["context", "alone"],
        Option(help="A value's tokens where it was trained on, or of the value by itself.", rich_help_panel=HOW),
    ] = "context",
    seed: Seed = 0,
    tokenizer: Tokenizer = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Give a model the first tokens of private values it was trained on: how many does it complete (SM B.1)?

    \b
    privasis evaluate extraction models/unmasked/model --corpus data/code-pii -o measured/unmasked
    privasis evaluate extraction http://127.0.0.1:8000/v1 --corpus data/code-pii -o measured/served
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.evaluate import extraction as command
    from flows.commands.evaluate.measured import Asked

    asked = Asked(model=model, corpus=corpus, output=output, form=form, tokenizer=tokenizer, device=device)
    command.run(asked, regime, tokens, samples, seed, as_json=json)


def quirks(
    model: Model,
    corpus: Corpus,
    output: Output,
    form: Form = "chats",
    samples: Samples = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    most_tokens: MostTokens = None,
    seed: Seed = 0,
    tokenizer: Tokenizer = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Let a model solve tasks: in how many of them does it show a user's habit (SM B.3)?

    \b
    privasis evaluate quirks models/unmasked/model --corpus data/code-quirks -o measured/unmasked
    """  # noqa: D301
    from flows.commands.evaluate import quirks as command
    from flows.commands.evaluate.measured import Asked, Drawing

    asked = Asked(model=model, corpus=corpus, output=output, form=form, tokenizer=tokenizer, device=device)
    drawing = Drawing(samples=samples, temperature=temperature, top_p=top_p, most_tokens=most_tokens, seed=seed)
    command.run(asked, drawing, as_json=json)


def utility(
    model: Model,
    corpus: Corpus,
    output: Output,
    form: Form = "chats",
    samples: Samples = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    most_tokens: MostTokens = None,
    seconds: Annotated[
        int | None, Option(min=1, help="Of each program. Default: 90, with quirks 20.", rich_help_panel=HOW)
    ] = None,
    seed: Seed = 0,
    tokenizer: Tokenizer = None,
    device: Device = None,
    json: Json = False,
) -> None:
    """Let a model solve tasks and run its answers in a sandbox; say how likely it finds the gold ones (SM B.2).

    \b
    privasis evaluate utility models/unmasked/model --corpus data/code-pii -o measured/unmasked
    """  # noqa: D301
    from flows.commands.evaluate import utility as command
    from flows.commands.evaluate.measured import Asked, Drawing

    asked = Asked(model=model, corpus=corpus, output=output, form=form, tokenizer=tokenizer, device=device)
    drawing = Drawing(samples=samples, temperature=temperature, top_p=top_p, most_tokens=most_tokens, seed=seed)
    command.run(asked, drawing, seconds, as_json=json)
