"""Where runs find the code, and a registration that nobody waits for any more."""

import os
import time
from pathlib import Path
from typing import Any

import yaml

from infra.stack.registration import IN_IMAGE, deploy, found_by_runs
from tests.infra.stack.answering import answering, once

STEP = {"prefect.deployments.steps.set_working_directory": {"directory": IN_IMAGE}}
OWN = [{"prefect.deployments.steps.git_clone": {"repository": "https://git.example.org/a.git"}}]


def pulls(*deployments: dict[str, Any], **content: object) -> list[Any]:
    return [each.get("pull") for each in found_by_runs({"deployments": list(deployments)} | content)["deployments"]]


def test_a_run_in_a_container_looks_for_the_code_where_the_image_has_it() -> None:
    here, docker = {"work_pool": {"name": "process"}}, {"work_pool": {"name": "docker"}}
    assert pulls(here, {}, docker, {"work_pool": {"name": "kubernetes"}}) == [None, None, [STEP], [STEP]]
    assert pulls(docker | {"pull": OWN}, docker | {"pull": []}) == [OWN, []]
    assert pulls(docker, pull=OWN) == [None]


def test_that_is_where_the_image_has_it() -> None:
    dockerfile = Path("deploy/containers/Dockerfile").read_text(encoding="utf-8")
    assert f"\nWORKDIR {IN_IMAGE}\n" in dockerfile
    assert f"\nCOPY flows {IN_IMAGE}/flows\n" in dockerfile


def test_a_registration_that_is_given_up_ends_at_once(tmp_path: Path) -> None:
    content = yaml.safe_load(Path("deploy/prefect.yaml").read_text(encoding="utf-8"))
    with answering() as server:
        server.answers["/api/deployments/filter"] = once([])
        environment = dict(os.environ) | {"PREFECT_API_URL": server.api.url, "PREFECT_HOME": str(tmp_path)}
        begun = time.monotonic()
        deploy(server.api, content, Path.cwd(), environment, tmp_path / "log", given_up=lambda: True)
    assert time.monotonic() - begun < 15
