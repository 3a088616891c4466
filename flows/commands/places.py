"""Data sets on the command line: a folder of this machine, or a place in an object store."""

from pathlib import Path
from typing import TYPE_CHECKING

from typer import BadParameter

if TYPE_CHECKING:
    from infra.shards.location import Location

    Place = Location
else:
    Place = Path  # typer takes no choice of two types; ``place``, its parser, makes either

HELP = "Folder of the data set, <root>/<name>; or s3://BUCKET/PREFIX/<name>."


def place(text: str) -> "Location":
    """Read a folder's name or an address in an object store.

    Raises:
        BadParameter: it is neither.
    """
    from infra.shards.location import location  # here: `--help` need not wait for it

    try:
        return location(text)
    except ValueError as error:
        raise BadParameter(str(error)) from error
