"""``privasis clean`` and ``privasis serve``: what they are called with. What they do is imported when needed."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

TEXT = "What to clean"
MODEL = "Who cleans"

Config = Annotated[
    Path | None,
    Option("--config", "-c", help="Run file (TOML) with models, see `privasis init`.", rich_help_panel=MODEL),
]
Model = Annotated[
    str | None,
    Option(
        metavar="MODEL",
        help="A folder (of `privasis train cleaner`, or with safetensors), a .gguf file, KIND:NAME (llama_cpp,"
        " transformers, vllm, openai, litellm, simulator), or a name of the run file. Without it: the embedded model.",
        rich_help_panel=MODEL,
    ),
]
BaseUrl = Annotated[
    str | None,
    Option(
        metavar="URL", help="Server of `--model openai:NAME`, such as http://127.0.0.1:8000/v1.", rich_help_panel=MODEL
    ),
]
ContextTokens = Annotated[
    int | None,
    Option(min=512, metavar="N", help="Window of the model, where its server does not say.", rich_help_panel=MODEL),
]


def clean(
    source: Annotated[
        str, Argument(metavar="FILE|-|FOLDER", help="A text, - for standard input, a folder, .parquet or .jsonl.")
    ],
    instruction: Annotated[
        str | None, Option("--instruction", "-i", help="What to do, in your words.", rich_help_panel=TEXT)
    ] = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Where to; a text goes to standard output without it.")
    ] = None,
    column: Annotated[str, Option(help="Column of the texts, in .parquet and .jsonl.", rich_help_panel=TEXT)] = "text",
    chunks: Annotated[
        bool,
        Option("--chunks/--no-chunks", help="Cut a text that is too long into parts, or fail.", rich_help_panel=TEXT),
    ] = True,
    value: Annotated[
        list[str],
        Option(metavar="KEY=VALUE", help="A value to look for in the clean text. Repeat.", rich_help_panel=TEXT),
    ] = [],  # noqa: B006 - typer copies it
    values: Annotated[
        Path | None,
        Option(metavar="FILE", help='Values as JSON: a list of {"key": ..., "value": ...}.', rich_help_panel=TEXT),
    ] = None,
    report: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write what became of each value, and what else was changed (JSON; of a batch, a line a text).",
        ),
    ] = None,
    pseudonyms: Annotated[
        Path | None,
        Option(
            metavar="MAP",
            help="Put pseudonyms in place of the values, before the model reads the text; MAP, which stays here, knows"
            " them all.",
        ),
    ] = None,
    restore: Annotated[
        Path | None, Option(metavar="MAP", help="Put the values back in place of their pseudonyms; asks no model.")
    ] = None,
    model: Model = None,
    config: Config = None,
    base_url: BaseUrl = None,
    context_tokens: ContextTokens = None,
) -> None:
    """Clean texts as an instruction asks. What the model does not answer well is not passed on: exit code 3.

    \b
    privasis clean letter.txt -i "Leave out all names and dates." --model runs/cleaner
    privasis clean - -i "Leave out who it was." < letter.txt > clean.txt
    privasis clean notes.parquet --column text -i "No diagnoses." -o clean.parquet
    privasis clean letters/ -i "No addresses." -o clean/ --value "name=Amina Karim" --pseudonyms map.json
    privasis clean clean/ --restore map.json -o letters-again/
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import clean as command

    command.run(
        command.CleanFlags(
            source=source,
            instruction=instruction,
            model=model,
            config=config,
            base_url=base_url,
            context_tokens=context_tokens,
            column=column,
            output=output,
            chunks=chunks,
            value=value,
            values=values,
            report=report,
            pseudonyms=pseudonyms,
            restore=restore,
        )
    )


def serve(
    host: Annotated[str, Option(help="Address to listen at; other than loopback it needs --token-env.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
    token_env: Annotated[
        str | None, Option(metavar="NAME", help="Variable that holds the token which callers have to show.")
    ] = None,
    pseudonyms: Annotated[
        Path | None, Option(metavar="MAP", help="Give the values of all requests pseudonyms; MAP stays here.")
    ] = None,
    model: Model = None,
    config: Config = None,
    base_url: BaseUrl = None,
    context_tokens: ContextTokens = None,
) -> None:
    """Clean texts over HTTP: POST /v1/clean and /v1/clean/batch; what there is stands at /docs.

    \b
    privasis serve --model runs/cleaner
    privasis serve --model vllm:runs/cleaner/model --port 9000
    TOKEN=... privasis serve --model runs/cleaner --host 0.0.0.0 --token-env TOKEN
    """  # noqa: D301
    from flows.commands import serve as command

    command.run(
        command.ServeFlags(
            host=host,
            port=port,
            token_env=token_env,
            pseudonyms=pseudonyms,
            model=model,
            config=config,
            base_url=base_url,
            context_tokens=context_tokens,
        )
    )
