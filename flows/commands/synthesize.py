"""``privasis synthesize``: plan, check, run the flow, say what was made."""

import sys
from typing import TYPE_CHECKING

from flows.budget import BudgetSpent
from flows.commands.checks import check_models, check_settings, make_home
from flows.commands.errors import EXPECTED, Code, RunFailed
from flows.commands.flags import RunFlags
from flows.commands.made import print_made, print_nothing_to_do
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.wording import counted
from flows.config import RunConfig
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards.plan import Plan, Reprocess

if TYPE_CHECKING:
    from flows.synthesize import SynthesisReport


def run(flags: RunFlags, reprocess: Reprocess) -> None:
    """Make what is asked for and not there yet.

    Raises:
        ConfigError: the run is described wrongly.
        RunFailed: shards did not get done.
    """
    config = run_of(flags)
    check_settings(config)
    quiet_prefect()
    from flows.engines import planned_job
    from flows.synthesize import plan_run

    store = planned_job(config).store()
    store.sweep()  # what killed runs have left, also where nothing is left to make and the flow is not called
    planned = plan_run(config, reprocess)
    if not planned.todo:
        held = planned.counts()["held"]
        if held:
            raise RunFailed(f"another process is making {counted(held, 'shard')}: wait for it", Code.OUTSIDE)
        print_nothing_to_do(config, planned)
        return
    check_models(config)
    make_home(config.root / config.dataset)
    print_made(config, _run(config, reprocess, planned), store, planned)


def _run(config: RunConfig, reprocess: Reprocess, planned: Plan) -> "SynthesisReport":
    from flows.commands.failures import Failures
    from flows.synthesize import synthesize
    from tasks.synthesis.steps import synthesize_shard

    failures = Failures()
    synthesize_shard.on_failure(failures.note)
    shards, rows = len(planned.todo), sum(map(len, planned.todo))
    _say(f"{counted(rows, 'record')} to make in {counted(shards, 'shard')}; starting Prefect, Ray and the models")
    with prefect_api(settings().cache / "prefect") as ready:
        _say(f"watch it at {ready().removesuffix('/api')}")
        try:
            return synthesize(config, reprocess)
        except BudgetSpent:
            raise
        except EXPECTED as error:
            raise failures.told(shards) or error from error


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
