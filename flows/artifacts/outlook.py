"""What a backfill is about to do, on the run's page: of a dry run it is all that there is."""

from collections.abc import Iterator, Sequence

from prefect.artifacts import create_markdown_artifact

from flows.artifacts.markdown import escaped
from flows.artifacts.run import artifact_only, key_of
from flows.backfill import Chosen
from flows.commands.estimate import outlook
from flows.config import RunConfig
from tasks.report.formats import usd

MOST_LISTED = 50


def tell_outlook(run: RunConfig, chosen: Sequence[Chosen], *, dry: bool) -> None:
    """Write the artifact.

    Args:
        run: the data set and its settings.
        chosen: what is to be made of each stage.
        dry: nothing will be.

    Raises:
        UnknownPrice: nobody has said what a paid model costs.
    """
    text = outlook_markdown(run, chosen, dry=dry)
    with artifact_only("outlook"):
        create_markdown_artifact(
            text, key=key_of("outlook", run.dataset), description=f"What a backfill of {escaped(run.dataset)} would do"
        )


def outlook_markdown(run: RunConfig, chosen: Sequence[Chosen], *, dry: bool) -> str:
    """Return a table of the stages, and the shards of each."""
    lines = ["Nothing was done: this was a dry run." if dry else "What this run sets out to do.", ""]
    lines += ["| stage | shards | for a later run | others have | at most |", "| --- | ---: | ---: | ---: | --- |"]
    for each in chosen:
        figures = [len(each.shards), each.rest, each.held]
        lines.append(f"| {each.stage} | {' | '.join(f'{figure:,}' for figure in figures)} | {_cost(run, each)} |")
    lines.append("")
    lines += [line for each in chosen for line in _listed(each)]
    return "\n".join(lines)


def _cost(run: RunConfig, chosen: Chosen) -> str:
    if not chosen.shards or chosen.stage not in ("records", "triplets"):
        return ""
    shards = [planned.shard for planned in chosen.shards]
    cost, source = outlook(run, "synthesize" if chosen.stage == "records" else "sanitize", shards)
    return escaped(f"{cost.calls:,.0f} calls, {usd(cost.cost_usd)} (what journals hold is not asked again); {source}")


def _listed(chosen: Chosen) -> Iterator[str]:
    for planned in chosen.shards[:MOST_LISTED]:
        yield f"- {chosen.stage}, {escaped(planned.shard.name)}, {escaped(chosen.standing(planned))}"
    if len(chosen.shards) > MOST_LISTED:
        yield f"- and {len(chosen.shards) - MOST_LISTED:,} more of {chosen.stage}"
