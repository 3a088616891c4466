"""The command ``privasis export``: what it is called with."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from flows.commands.places import HELP, Place, place


def export(
    folder: Annotated[Place, Argument(parser=place, metavar="DATASET_DIR", help=HELP)],
    to: Annotated[
        Path | None, Option("--to", metavar="DIR", help="Where to write; DATASET_DIR/export if not said.")
    ] = None,
    push: Annotated[
        str | None,
        Option(metavar="OWNER/NAME", help="Upload it to the hub as this data set; HF_TOKEN says who you are."),
    ] = None,
    public: Annotated[bool, Option("--public", help="If the data set is made by this, let everybody see it.")] = False,
) -> None:
    """Write triplets as chats that `datasets` loads and Qwen3 trains on, with a data card.

    Only what is verified is for training. `privasis split` decides the parts; without it there is one, `train`.

    \b
    privasis export data/records
    privasis export data/records --to records-chats --push me/records-chats
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import export as command

    command.run(folder, to, push, public)
