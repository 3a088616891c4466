"""Work pools: which kinds of machine take runs. Their job templates are files, ``deploy/work-pools/TYPE.json``."""

import json
from pathlib import Path

from infra.stack.prefect_api import ApiRefused, PrefectApi

LOCAL_POOL = "process"  # served by the stack's own worker
DESCRIPTIONS = {
    "process": "Processes on the machine of `privasis up`, whose worker serves it.",
    "docker": "Containers; serve it with `prefect worker start --pool docker` where prefect-docker is installed.",
    "kubernetes": "Jobs of a cluster; serve it with a worker there that has prefect-kubernetes.",
}


def make_pools(api: PrefectApi, templates: Path) -> None:
    """Make the pools that are not there, and leave those that are as their owner has set them.

    Raises:
        ApiAway: no server answers.
        ApiRefused: a template is not one.
    """
    there = {pool["name"] for pool in api.post("/work_pools/filter", {"limit": 200})}
    for kind, description in DESCRIPTIONS.items():
        file = templates / f"{kind}.json"
        if kind in there or not file.is_file():
            continue
        pool = {
            "name": kind,
            "type": kind,
            "description": description,
            "base_job_template": json.loads(file.read_text(encoding="utf-8")),
        }
        try:
            api.post("/work_pools/", pool)
        except ApiRefused as error:
            raise ApiRefused(f"{file}: {error}") from error
