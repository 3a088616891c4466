"""``privasis browse``: the data sets under a root, in a browser."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from flows.commands.places import Place, place


def browse(
    root: Annotated[
        Place,
        Argument(
            parser=place, metavar="[ROOT]", help="Folder of the data sets, or of one of them; or s3://BUCKET/PREFIX."
        ),
    ] = Path("data"),
    host: Annotated[str, Option(help="Address to listen at; other than loopback it makes a token.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8090,
    open_: Annotated[bool, Option("--open", help="Open it in your browser.")] = False,
) -> None:
    """Look at data sets in a browser: shards, records, rejects, triplets, scores, evaluations, charts. Reads only.

    \b
    privasis browse                         what is under ./data, at http://127.0.0.1:8090/
    privasis browse runs --open             another root, opened in your browser
    privasis browse data/letters            one data set
    privasis browse --host 0.0.0.0          for others, too: the address that is printed holds a token
    """  # noqa: D301 - \b keeps the lines apart
    from flows.browse.command import run

    run(root, host, port, open_browser=open_)
