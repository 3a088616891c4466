"""``privasis doctor``: what works on this machine, what is missing, and what to do about it."""

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.errors import Code
from flows.commands.findings import Finding, findings
from flows.config import load_run
from tasks.report.marks import visible

_STYLES = {"ok": "green", "optional": "yellow", "missing": "bold red"}


def run(config: Path | None) -> Code:
    """Look at everything a run needs, the default one or that of the file ``config``.

    Raises:
        ConfigError: the file is wrong.
    """
    run_config = load_run(config, {})
    console = Console()
    found: list[Finding] = []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "", "found"):
        table.add_column(heading)
    with console.status("looking"):
        for finding in findings(run_config):
            found.append(finding)
            detail = Text(visible(finding.detail))
            if finding.advice:
                detail.append(f"\n{visible(finding.advice)}", "italic")
            table.add_row(Text(finding.state, _STYLES[finding.state]), Text(finding.name), detail)
    console.print(table)
    missing = [finding.name for finding in found if finding.state == "missing"]
    if missing:
        console.print(Text(f"Missing: {', '.join(missing)}.", "bold red"))
        return Code.OUTSIDE
    console.print(Text("Everything a run needs is here."))
    return Code.DONE
