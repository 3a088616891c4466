"""Data sets on the command line: a folder of this machine, or a place in an object store."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def existing_folder(text: str) -> "Location":
    """Read the same of a folder that is there.

    Raises:
        BadParameter: it is not.
        StorageRefused, StorageUnavailable: its store does not say.
    """
    from infra.shards import files

    folder = place(text)
    if not files.is_folder(folder):
        raise BadParameter(f"{folder}: no such folder")
    return folder


def on_this_machine(ctx: Any, param: Any, value: Any) -> Any:  # noqa: ANN401 - typer keeps the types to itself
    """Give back what an option or argument got; a file or folder of this machine must not be called ``s3://...``.

    Raises:
        BadParameter: it is; the folder ``s3:`` of this machine would be made.
    """
    for each in value if isinstance(value, list | tuple) else (value,):
        if isinstance(each, Path) and each.parts[:1] == ("s3:",):
            address = str(each).replace(":/", "://", 1)
            raise BadParameter(f"{address}: this has to be on this machine: give a path, copy with `aws s3 cp`")
    return value
