"""``privasis shards``: where the shards of a run stand, and whether a data set is what its manifest says."""

from collections import Counter

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.checks import check_settings
from flows.commands.errors import Code
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.stages import stages_of
from flows.commands.wording import counted
from infra.shards.location import Location
from infra.shards.plan import State
from infra.shards.verify import verify
from tasks.report.marks import visible

_MEANINGS: dict[State, str] = {
    "committed": "finished",
    "stale": "finished, with other settings or prompts than now: --reprocess stale makes them again",
    "open": "begun: the next run goes on with them",
    "missing": "to be made",
    "held": "another process is making them",
}
_STYLES: dict[State, str] = {"committed": "green", "stale": "yellow", "open": "cyan", "missing": "", "held": "magenta"}
MOST_LISTED = 40


def status(flags: RunFlags) -> None:
    """Show the state of every shard that the run wants.

    Raises:
        ConfigError: the run is described wrongly.
    """
    config = run_of(flags)
    check_settings(config)
    quiet_prefect()
    from flows.synthesize import plan_run

    shards = plan_run(config, "missing_and_failed").shards
    records: Counter[State] = Counter()
    for planned in shards:
        records[planned.state] += len(planned.shard)
    states = Counter(planned.state for planned in shards)
    summary = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("shards", "rows"):
        summary.add_column(heading, justify="right")
    summary.add_column("state")
    for state, meaning in _MEANINGS.items():
        if states[state]:
            cell = Text.assemble((state, _STYLES[state]), f": {meaning}")
            summary.add_row(f"{states[state]:,}", f"{records[state]:,}", cell)
    console = Console()
    console.print(
        Text(f"{config.root / config.dataset}, rows {config.first:,} to {config.wanted.stop:,}"), soft_wrap=True
    )
    console.print(summary)
    rest = [planned for planned in shards if planned.state != "committed"]
    for planned in rest[:MOST_LISTED]:
        line = Text.assemble(f"{planned.shard.name}  ", (planned.state, _STYLES[planned.state]))
        console.print(line.append(f"  {visible(planned.reason)}" if planned.reason else ""), soft_wrap=True)
    if len(rest) > MOST_LISTED:
        console.print(Text(f"and {len(rest) - MOST_LISTED:,} more"))


def check(folder: Location) -> Code:
    """Read every file of every stage in ``folder`` again and print what is not as it should be.

    Raises:
        ConfigError: no data set there.
    """
    console = Console()
    found = 0
    shards: Counter[str] = Counter()
    for store in stages_of(folder):
        findings = verify(store)
        for finding in findings:
            line = Text.assemble((finding.kind, "bold red"), f"  {finding.path}: {visible(finding.detail)}")
            console.print(line, soft_wrap=True)
        found += len(findings)
        if not findings:
            shards[store.layout.manifest.name] += len(store.manifest.shards())
    if found:
        console.print(Text(f"{counted(found, 'finding')} in {folder}"), soft_wrap=True)
        return Code.DAMAGE
    stages = ", ".join(f"{counted(number, 'shard')} of {stage}" for stage, number in shards.items())
    console.print(Text(f"{folder}: {stages}, every file as it was committed"), soft_wrap=True)
    return Code.DONE
