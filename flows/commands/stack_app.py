"""How ``privasis up``, ``privasis ps`` and ``privasis down`` are called."""

from pathlib import Path
from typing import Annotated

from typer import Option

Json = Annotated[bool, Option("--json", help="Print JSON for a program instead.")]


def up(
    port: Annotated[int, Option(min=1, max=65535, help="Of the Prefect server and its dashboard.")] = 4200,
    ray_port: Annotated[int, Option(min=1, max=65535, help="Of the Ray head.")] = 6379,
    ray_dashboard_port: Annotated[int, Option(min=1, max=65535, help="Of Ray's dashboard.")] = 8265,
    cpus: Annotated[int | None, Option(min=1, help="CPUs for shard workers; by default all there are.")] = None,
    runs: Annotated[int, Option(min=1, help="Flow runs at once.")] = 4,
    database: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="postgresql://USER:PASSWORD@HOST/NAME instead of a file of SQLite. Better in PRIVASIS_DATABASE_URL:"
            " others can read a flag.",
        ),
    ] = None,
    deployments: Annotated[
        Path | None, Option(metavar="FILE", help="A prefect.yaml instead of deploy/prefect.yaml.")
    ] = None,
    foreground: Annotated[
        bool, Option("--foreground", help="Stay here until Ctrl-C or SIGTERM, for a container or systemd.")
    ] = False,
    env: Annotated[
        bool, Option("--env", help="Start nothing: print what a shell evaluates to use the stack that is up.")
    ] = False,
) -> None:
    """Start a local stack: Prefect server, Ray, a worker, all deployments. On loopback, in the background.

    \b
    privasis up
    eval "$(privasis up --env)"            commands of this shell use it from now on
    privasis up --port 4210 --cpus 8
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import up as command

    if env:
        command.print_exports()
        return
    wanted = command.Wanted(port, ray_port, ray_dashboard_port, cpus, runs, deployments)
    command.run(wanted, database, foreground=foreground)


def ps(json: Json = False) -> None:
    """Show the parts of the local stack: where they answer, whether they live, how often they were started again.

    \b
    privasis ps
    """  # noqa: D301
    from flows.commands import up as command

    command.print_parts(as_json=json)


def down() -> None:
    """End the local stack and what runs on it, in order. Data sets, history and passwords stay.

    \b
    privasis down
    """  # noqa: D301
    from flows.commands import down as command

    command.run()
