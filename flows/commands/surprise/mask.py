"""``privasis surprise mask``: token masks for training, or a redacted data set for release."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.quiet import quiet_prefect
from flows.commands.surprise.opening import check_output, check_reference, open_first, open_policy
from flows.config import ConfigError
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards import files
from infra.shards.location import Location
from tasks.report.formats import percent
from tasks.surprise.masking.redact import Redact
from tasks.surprise.scored import ScoresUnfit
from tasks.surprise.store.steps import has_groups

if TYPE_CHECKING:
    from flows.surprise_mask import MaskSummary
    from tasks.surprise.masking.steps import MaskJob


def run(
    folder: Location, policy: Path, output: Location, tokenizer: Path | None, how: Redact | None, as_json: bool
) -> None:
    """Mask the scores in ``folder`` by a frozen policy into the data set ``output``.

    Raises:
        ConfigError: neither or both of tokenizer and redaction, or scores that the policy does not fit.
    """
    job = job_of(folder, policy, output, tokenizer, how)
    quiet_prefect()
    with prefect_api(settings().cache / "prefect") as ready:
        from flows.surprise_mask import surprise_mask

        ready()
        summary = surprise_mask(job)
    report(job, summary, as_json)


def job_of(folder: Location, policy: Path, output: Location, tokenizer: Path | None, how: Redact | None) -> "MaskJob":
    """Check what was asked for, and say it as a job.

    Raises:
        ConfigError: see ``run``.
    """
    if (tokenizer is None) is (how is None):
        raise ConfigError(
            "give --tokenizer (token masks for training that model) or --redact (texts for release), one of them"
        )
    check_output(folder, output)
    frozen, scored = open_policy(policy), open_first(folder)  # all may be more than the memory holds
    check_reference(frozen, scored, policy)
    try:
        scored.scores(frozen.conditioning)
    except ScoresUnfit as error:
        raise ConfigError(f"{policy}: {error}") from error
    home, target = folder.resolve(), output.resolve()
    if frozen.procedure.propagation is not None and not has_groups(home.parent, home.name):
        raise ConfigError(f"{policy}: it propagates within groups, and no document of {folder} has one")
    from tasks.surprise.masking.steps import MaskJob, TokenizerUnfit, load_tokenizer

    if tokenizer is not None:
        try:
            load_tokenizer(tokenizer)
        except TokenizerUnfit as error:
            raise ConfigError(f"--tokenizer {error}: give the folder of the model to be trained") from error
    return MaskJob(
        scores_root=home.parent,
        scores=home.name,
        root=target.parent,
        dataset=target.name,
        policy=frozen,
        tokenizer=tokenizer,
        redact=how,
    )


def report(job: "MaskJob", summary: "MaskSummary", as_json: bool) -> None:
    """Print what was masked, and write the figures beside the shards; no text of a document is among them."""
    store = job.target()
    figures: dict[str, Any] = {
        "documents": summary.documents,
        "supervised_tokens": summary.supervised,
        "masked_tokens": summary.masked,
        "masked_share": summary.masked / summary.supervised if summary.supervised else None,
        "unscored_tokens": sum(job.selected().read("selected", ["unscored_tokens"])["unscored_tokens"].to_pylist()),
        "shards": len(summary.receipts),
        "threshold": job.policy.threshold,
    }
    if job.redact:
        table = store.read("redacted", ["masked_characters", "characters"])
        gone, there = (sum(table[name].to_pylist()) for name in ("masked_characters", "characters"))
        figures |= {"removed_characters": gone, "removed_share": gone / there if there else None}
    file = job.root / job.dataset / f"{store.stage}-report.json"
    files.put(file, f"{json.dumps(figures, indent=2)}\n".encode())
    if as_json:
        sys.stdout.write(f"{json.dumps(figures, indent=2)}\n")
        return
    table = Table.grid(padding=(0, 2))
    table.add_row("documents", Text(f"{summary.documents:,}", "bold"))
    table.add_row("masked", Text(f"{percent(figures['masked_share'])} of {summary.supervised:,} tokens", "bold"))
    if job.redact:
        table.add_row("removed", Text(f"{percent(figures['removed_share'])} of all characters", "bold"))
    if figures["unscored_tokens"]:
        table.add_row("never maskable", Text(f"{figures['unscored_tokens']:,} tokens without a score"))
    expected = job.policy.achieved
    table.add_row("validation", Text(f"recall {expected.recall:.1%}, collateral {expected.collateral:.1%}", "dim"))
    console = Console()
    console.print(table)
    for line in (
        f"\n{store.stage}: {store.layout.tables[store.stage]}/*.parquet",
        f"Examples and n-grams that spread, with private text: {job.local}",
    ):
        console.print(Text(line), soft_wrap=True)
