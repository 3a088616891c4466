"""``privasis init``: a run file to edit."""

import shlex
from pathlib import Path

from rich.console import Console
from rich.text import Text

from flows.commands.template import run_file
from flows.config import ConfigError


def run(file: Path, force: bool) -> None:
    """Write a run file that loads to the defaults.

    Raises:
        ConfigError: the file is there and ``force`` is not given.
    """
    try:
        with file.open("w" if force else "x", encoding="utf-8") as sink:
            sink.write(run_file())
    except FileExistsError as error:
        raise ConfigError(f"{file} is there: choose another name, or --force to write over it") from error
    console = Console()
    quoted = shlex.quote(str(file))
    for line in (
        f"Written: {file}",
        "\nNext:",
        f"  privasis preview -c {quoted}",
        f"  privasis synthesize -c {quoted}",
    ):
        console.print(Text(line), soft_wrap=True)
