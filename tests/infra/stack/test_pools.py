import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonpatch import JsonPatch

from infra.stack.pools import DESCRIPTIONS

TEMPLATES = Path("deploy/work-pools")


def template(kind: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((TEMPLATES / f"{kind}.json").read_text(encoding="utf-8"))
    return read


@pytest.mark.parametrize("kind", sorted(DESCRIPTIONS))
def test_a_job_uses_the_variables_that_its_form_has(kind: str) -> None:
    read = template(kind)
    used = set(re.findall(r"\{\{ (\w+) \}\}", json.dumps(read["job_configuration"])))
    assert used == set(read["variables"]["properties"])


def test_every_template_has_a_pool() -> None:
    assert {file.stem for file in TEMPLATES.glob("*.json")} == set(DESCRIPTIONS)


def test_prefect_makes_a_process_of_the_template() -> None:
    from prefect.workers.process import ProcessWorker

    ours, theirs = template("process"), ProcessWorker.get_default_base_job_template()
    assert ours["job_configuration"] == theirs["job_configuration"]
    assert ours["variables"]["properties"].keys() == theirs["variables"]["properties"].keys()


# What prefect-kubernetes 0.8 compares a manifest with: it must lack nothing of this, and have no other value.
NEEDED = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"annotations": {}, "labels": {}},
    "spec": {
        "template": {
            "spec": {
                "parallelism": 1,
                "completions": 1,
                "restartPolicy": "Never",
                "containers": [{"name": "prefect-job"}],
            }
        }
    },
}


def test_a_job_of_kubernetes_is_what_its_worker_takes_and_unprivileged() -> None:
    job = template("kubernetes")["job_configuration"]["job_manifest"]
    filled_in = job | {"metadata": job["metadata"] | {"labels": {}}}
    assert {step["op"] for step in JsonPatch.from_diff(filled_in, NEEDED)} <= {"remove", "move"}
    pod = job["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    (container,) = pod["containers"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_a_container_of_a_run_has_its_data_sets_in_a_volume_that_outlives_it() -> None:
    compose = yaml.safe_load(Path("deploy/compose/compose.yaml").read_text(encoding="utf-8"))
    worker = compose["services"]["worker"]["volumes"]
    volumes = template("docker")["variables"]["properties"]["volumes"]["default"]
    assert volumes == [f"{compose['name']}_{volume}" for volume in worker]
