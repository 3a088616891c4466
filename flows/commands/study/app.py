"""The commands under ``privasis study``: what they are called with. What they do is imported when needed."""

from typing import Annotated

from typer import Option, Typer

from flows.commands.evaluate.app import MAKING, Evaluator, Json
from flows.commands.flags import RunFlags, takes_run_flags
from flows.commands.study.masking_app import code_pii, code_quirks

study_app = Typer(no_args_is_help=True, help="Find out how a setting tells: chunk size, masking.")
study_app.command("code-pii")(code_pii)
study_app.command("code-quirks")(code_quirks)


@study_app.callback()
def study() -> None:
    """Find out how a setting tells: of the pipeline, or of masked training."""


@study_app.command("chunk-size")
@takes_run_flags(without=MAKING)
def chunk_size(
    flags: RunFlags,
    sizes: Annotated[str, Option(metavar="N,N,...", help="Most characters of a chunk.")] = "128,256,512,1024,2048",
    sanitized_by: Annotated[
        str | None, Option(metavar="MODEL", help="Who sanitizes, where it is not all models of the run file.")
    ] = None,
    evaluator: Evaluator = None,
    json: Json = False,
) -> None:
    """Sanitize the records of a data set at several chunk sizes and judge each (PV Figure 5). Resumes.

    \b
    privasis study chunk-size -c run.toml --evaluator openai:gpt-oss-120b
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.study import chunk_size as command

    command.run(flags, sizes, sanitized_by, evaluator, as_json=json)
