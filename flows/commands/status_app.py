"""How ``privasis status`` is called."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from flows.commands.places import HELP, Place, place


def status(
    folder: Annotated[Place | None, Argument(parser=place, metavar="[DATASET_DIR]", help=HELP)] = None,
    config: Annotated[
        Path | None, Option("--config", "-c", help="Run file instead: also says how much of the run is there.")
    ] = None,
    watch: Annotated[bool, Option("--watch", "-w", help="Stay, and look again every second until it ends.")] = False,
    json: Annotated[bool, Option("--json", help="Print JSON for a program instead.")] = False,
) -> None:
    """Say how a run is, from another terminal: how fast, how long to go, what each worker waits for, what is slow.

    \b
    privasis status data/records --watch
    privasis status -c run.toml
    privasis status data/records --json
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import status as command

    command.run(folder, config, watch=watch, as_json=json)
