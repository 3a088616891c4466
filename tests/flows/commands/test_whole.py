"""Names in tables are whole, in a pipe and in a narrow terminal."""

import io

import pytest
from rich import box
from rich.console import Console
from rich.table import Table

from flows.commands.whole import print_whole

NAMES = ("part-00000000-00000512", "openai/gpt-oss-120b-a-long-name-of-a-deployment", "batch_" + "0123456789abcdef" * 2)


def printed(*, terminal: bool, width: int) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, color_system=None)
    table = Table("shard", "model", "batch", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_row(*NAMES)
    print_whole(console, table)
    assert console.width == width
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_line_of_a_pipe_holds_every_name_whole() -> None:
    (line,) = (line for line in printed(terminal=False, width=80).splitlines() if NAMES[0] in line)
    assert line.split() == list(NAMES)


@pytest.mark.parametrize("width", [50, 80, 200])
def test_a_narrow_terminal_gets_every_character(width: int) -> None:
    shown = printed(terminal=True, width=width)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    assert sorted("".join(NAMES)) == sorted(
        character for line in shown.splitlines()[2:] for character in line if character not in " ─"
    )
