"""The flags that describe a run, in one place: every command about runs takes them, and gets them as one value."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from flows.commands.places import Place, place

WHAT = "What to make"
HOW = "How to make it"
ABLATIONS = "Ablations"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags:
    """What a person said about a run on the command line; None where nothing was said."""

    config: Annotated[
        Path | None,
        Option("--config", "-c", help="Run file (TOML), see `privasis init`; the flags below override it."),
    ] = None
    dataset: Annotated[str | None, Option(help="Name of the data set.", rich_help_panel=WHAT)] = None
    root: Annotated[
        Place | None,
        Option(
            parser=place, metavar="DIR", help="Folder of the data sets; or s3://BUCKET/PREFIX.", rich_help_panel=WHAT
        ),
    ] = None
    records: Annotated[int | None, Option("--records", "-n", min=1, help="Records.", rich_help_panel=WHAT)] = None
    first: Annotated[int | None, Option(min=0, help="First record of the population.", rich_help_panel=WHAT)] = None
    shards: Annotated[
        str | None,
        Option(
            metavar="A:B",
            help="Shards A to B, B not included, instead of --first and --records: one machine's part of a run.",
            rich_help_panel=WHAT,
        ),
    ] = None
    seed: Annotated[int | None, Option(min=0, help="Another seed, another population.", rich_help_panel=WHAT)] = None
    language: Annotated[str | None, Option(help="Language of the records, in English.", rich_help_panel=WHAT)] = None
    words: Annotated[int | None, Option(help="Length asked of a record.", rich_help_panel=WHAT)] = None
    model: Annotated[
        list[str],
        Option(
            metavar="KIND:NAME[=WEIGHT]",
            help="A model of the mix, instead of the run file's. KIND: llama_cpp (on this machine), openai (any server"
            " of that protocol; OPENAI_BASE_URL says where), litellm (other providers), simulator. Repeat for a mix.",
            rich_help_panel=HOW,
        ),
    ] = ()  # type: ignore[assignment]  # typer wants a list, a default must not be one
    refinement_steps: Annotated[
        int | None, Option(min=0, help="Revisions offered to each draft; 0 for none.", rich_help_panel=ABLATIONS)
    ] = None
    no_diversity: Annotated[
        bool, Option("--no-diversity", help="The judge alone decides on revisions.", rich_help_panel=ABLATIONS)
    ] = False
    no_record_type: Annotated[
        bool, Option("--no-record-type", help="Leave out record types and formats.", rich_help_panel=ABLATIONS)
    ] = False
    in_flight: Annotated[
        int | None, Option(min=1, help="Records of a shard worked on at once.", rich_help_panel=HOW)
    ] = None
    workers: Annotated[int | None, Option(min=1, help="Worker processes, a CPU each.", rich_help_panel=HOW)] = None
    budget: Annotated[
        float | None,
        Option(metavar="USD", help="Begin nothing new when the stage has cost so much in all.", rich_help_panel=HOW),
    ] = None
    set_: Annotated[
        list[str],
        Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any setting of the run file, such as synthesis.refinement.pool_size=100. The value is TOML; what is"
            " none is taken as text.",
            rich_help_panel=HOW,
        ),
    ] = ()  # type: ignore[assignment]


def takes_run_flags(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Give a command the flags of ``RunFlags``; it gets them as one value, its first parameter.

    Args:
        without: names of flags that mean nothing to the command.
    """
    taken = [field.name for field in fields(RunFlags) if field.name not in without]
    if unknown := set(without) - {field.name for field in fields(RunFlags)}:
        raise ValueError(f"no such flags: {sorted(unknown)}")

    def decorate(command: Callable[..., None]) -> Callable[[], None]:
        @functools.wraps(command)
        def wrapper(**values: Any) -> None:  # noqa: ANN401 - typer has checked them by the signature below
            flags = RunFlags(**{name: values.pop(name) for name in taken})
            command(flags, **values)

        shared = [parameter for name, parameter in inspect.signature(RunFlags).parameters.items() if name in taken]
        own = list(inspect.signature(command).parameters.values())[1:]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *shared)]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return wrapper

    return decorate
