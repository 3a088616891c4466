"""The deployment that cleans texts of one's own."""

from typing import Annotated

from prefect import flow
from pydantic import Field

from flows.artifacts.made import tell_made
from flows.commands import clean as command
from flows.deployed.asked import here, run_file_at
from flows.deployed.parameters import RunFile, Says

Source = Annotated[str, Field(min_length=1), Says("On the worker: a text, a folder, .parquet or .jsonl.")]
Target = Annotated[str, Field(min_length=1), Says("Where the clean texts go; the same again goes on.")]
Instruction = Annotated[str, Field(min_length=1), Says("What to do, in your words.")]
Column = Annotated[str, Field(min_length=1), Says("Column of the texts, in .parquet and .jsonl.")]
Cleaner = Annotated[
    str,
    Says(
        "A folder (of `privasis train cleaner`, or with safetensors), a .gguf file, KIND:NAME (llama_cpp, transformers,"
        " vllm, openai, litellm, simulator), or a name of the run file. Empty: the embedded model."
    ),
]
BaseUrl = Annotated[str, Says("Server of a model openai:NAME. Empty: as OPENAI_BASE_URL says.")]
Window = Annotated[
    int | None, Field(ge=512, le=10_000_000), Says("Window of the model, where its server does not say.")
]
InParts = Annotated[bool, Says("Cut a text that is too long into parts; else it fails.")]
Report = Annotated[str, Says("File for what became of each value. It may hold private text. Empty: none.")]


@flow(name="clean")
def clean(
    source: Source,
    output: Target,
    instruction: Instruction,
    column: Column = "text",
    model: Cleaner = "",
    base_url: BaseUrl = "",
    context_tokens: Window = None,
    in_parts: InParts = True,
    report: Report = "",
    run_file: RunFile = "",
) -> None:
    """Clean texts as an instruction asks, as `privasis clean` does; what is not answered well is not passed on."""
    with run_file_at(run_file) as path:
        command.run(
            command.CleanFlags(
                source=source,
                instruction=instruction,
                model=model or None,
                config=path,
                base_url=base_url or None,
                context_tokens=context_tokens,
                column=column,
                output=here(output),
                chunks=in_parts,
                value=[],
                values=None,
                report=here(report) if report else None,
                pseudonyms=None,
                restore=None,
            )
        )
    tell_made(f"{here(output).name}: cleaned", {}, {"clean texts": here(output).resolve()})
