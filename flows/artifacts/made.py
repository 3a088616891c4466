"""What a run has come to, and where it is: one page of Markdown on the run."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from prefect.artifacts import create_markdown_artifact

from flows.artifacts.markdown import code, escaped
from flows.artifacts.run import artifact_only, key_of
from flows.artifacts.shards import tell_cost
from infra.llm.types import Usage
from infra.shards.location import Location
from infra.shards.store import StageStore
from tasks.report.formats import usd
from tasks.shards.steps import ShardReceipt


def tell_made(title: str, figures: Mapping[str, str], places: Mapping[str, Location]) -> None:
    """Write the artifact.

    Args:
        title: what it is about, such as a data set and a stage: part of the key.
        figures: name -> figure; either may be anybody's text.
        places: what is where: files and folders of the machine that the run was on.
    """
    lines = [f"## {escaped(title)}", ""]
    if figures:
        lines += [
            "| | |",
            "| --- | ---: |",
            *(f"| {escaped(name)} | {escaped(value)} |" for name, value in figures.items()),
        ]
    lines += ["", *(f"- {escaped(name)}: {code(str(place))}" for name, place in places.items())]
    with artifact_only("figures"):
        create_markdown_artifact(
            "\n".join(lines), key=key_of("made", title), description=f"What {escaped(title)} came to"
        )


def figures_of(receipts: Iterable[ShardReceipt], before: int) -> dict[str, str]:
    """Sum up receipts of shards.

    Args:
        receipts: of the shards made now.
        before: shards that were there.
    """
    all_ = list(receipts)
    tokens = sum((each.all_tokens for each in all_), Usage())
    return {
        "shards made": f"{len(all_):,}",
        "shards there before": f"{before:,}",
        "rows kept": f"{sum(each.records for each in all_):,}",
        "rows filtered": f"{sum(each.filtered for each in all_):,}",
        "rows quarantined": f"{sum(each.quarantined for each in all_):,}",
        "calls": f"{sum(each.calls for each in all_):,}",
        "failed tries": f"{sum(each.failed_tries for each in all_):,}",
        "tokens": f"{tokens.prompt + tokens.completion:,}",
        "cost": usd(sum(each.bill_usd for each in all_)),
    }


class StageReport(Protocol):
    """What the flow of a stage returns."""

    @property
    def shards_before(self) -> int:
        """Shards that were there."""
        ...

    @property
    def receipts(self) -> tuple[ShardReceipt, ...]:
        """Of the shards made now."""
        ...


def tell_stage(store: StageStore, report: StageReport, places: Mapping[str, Location]) -> None:
    """Write what a stage of a data set has come to now, and what the data set has cost in all."""
    folder = store.layout.manifest.parents[1]
    title = f"{folder.name}: {store.stage}"
    tell_made(title, figures_of(report.receipts, report.shards_before), {"data": folder, **places})
    tell_cost(folder)
