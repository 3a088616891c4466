"""How ``privasis cost`` and ``privasis check-identities`` are called."""

from typing import Annotated

from typer import Argument, Option

from flows.commands.places import HELP, Place, place

Folders = Annotated[list[Place], Argument(parser=place, metavar="DATASET_DIR...", help="Folders of data sets.")]
Folder = Annotated[Place, Argument(parser=place, metavar="DATASET_DIR", help=HELP)]


def cost(
    folders: Folders,
    by: Annotated[
        str, Option(metavar="A,B,...", help="Sum up by these, in this order, of dataset, stage, model, step.")
    ] = "dataset,stage,model",
    json: Annotated[bool, Option("--json", help="Print JSON for a program instead.")] = False,
) -> None:
    """Show what data sets have cost: calls, tokens and dollars of every finished shard.

    \b
    privasis cost data/records
    privasis cost data/records data/more --by stage,step
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import cost as command

    command.run(folders, command.properties(by), json)


def check_identities(
    folder: Folder,
    model: Annotated[str, Option(help="A model that may search the web, of OpenAI's Responses API.")] = "gpt-4.1",
    sample: Annotated[int, Option("--sample", "-n", min=1, help="Profiles.")] = 100,
    seed: Annotated[int, Option(min=0, help="Another seed, another sample.")] = 1,
    in_flight: Annotated[int, Option(min=1, help="Profiles asked about at once.")] = 8,
    base_url: Annotated[str | None, Option(help="Another server of that API; ends in /v1.")] = None,
    key: Annotated[str, Option("--key", metavar="VARIABLE", help="Variable that holds the key.")] = "OPENAI_API_KEY",
) -> None:
    """Ask a model that searches the web whether any of a sample of invented people exists.

    Keeps every verdict with its reason in DATASET_DIR/identity_checks.parquet; the same command again goes on.

    \b
    privasis check-identities data/records --sample 100
    """  # noqa: D301
    from flows.commands import check_identities as command
    from infra.llm.connect import Endpoint

    endpoint = Endpoint(model=model, base_url=base_url, api_key_env=key, max_in_flight=in_flight)
    command.run(folder, endpoint, sample, seed)
