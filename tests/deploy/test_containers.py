"""What must hold in the container file, the compose file and what their containers start."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.stack.container import DEPLOYMENTS, on_pool, with_defaults
from infra.stack.registration import RegistrationFailed
from tests.deploy.objects import ROOT

CONTAINERS = ROOT / "deploy" / "containers"
DOCKERFILE = (CONTAINERS / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose" / "compose.yaml").read_text(encoding="utf-8"))
PLACES = [*CONTAINERS.iterdir(), *(ROOT / "deploy" / "compose").glob("*.*"), *(ROOT / "deploy" / "k8s").rglob("*.*")]


def stages() -> dict[str, str]:
    parts = re.split(r"^FROM (?:\S+) AS (\w+)\n", DOCKERFILE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("image", ["factory", "engine", "trainer"])
def test_an_image_runs_as_nobody_of_importance(image: str) -> None:
    users = re.findall(r"^USER (\S+)$", stages()[image], flags=re.MULTILINE)
    assert users[-1] == "10001:10001"


def test_every_base_is_of_a_version_and_every_library_is_hashed() -> None:
    assert re.findall(r"^ARG BASE=(\S+)$", DOCKERFILE, flags=re.MULTILINE) == ["python:3.11.14-slim-bookworm"]
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, flags=re.MULTILINE)) == {
        "${BASE}",
        "builder",
        "environment",
        "factory",
    }
    for command in re.findall(r"pip install(?:[^&]|&[^&])*", DOCKERFILE):
        assert "--require-hashes" in command or "==" in command or "torch.txt" in command or "--editable" in command


def test_the_build_takes_only_what_it_copies() -> None:
    ignore = (CONTAINERS / "Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in ignore
    kept = {line[1:] for line in ignore if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    for source in (each for line in copied for each in line.split()):
        assert any(each == source or each.startswith(f"{source}/") or source.startswith(f"{each}/") for each in kept), (
            source
        )
        assert (ROOT / source).exists() or source == "deploy/prefect.yaml", source


def test_data_sets_of_a_run_that_names_no_root_are_on_a_volume_everywhere() -> None:
    (root,) = re.findall(r"\bPRIVASIS_ROOT=(\S+)", stages()["factory"])
    assert f'VOLUME ["{root}"]' in stages()["factory"]
    worker = COMPOSE["services"]["worker"]
    assert worker["environment"]["PRIVASIS_ROOT"] == root
    assert f"data:{root}" in worker["volumes"]
    chart = yaml.safe_load((ROOT / "deploy" / "k8s" / "chart" / "values.yaml").read_text(encoding="utf-8"))
    assert chart["data"]["root"] == root
    for rendered in (ROOT / "deploy" / "k8s" / "rendered").glob("*.yaml"):
        objects = list(yaml.safe_load_all(rendered.read_text(encoding="utf-8")))
        (job,) = [each for each in objects if each["kind"] == "Job"]
        argument = job["spec"]["template"]["spec"]["containers"][0]["args"][-1]
        defaults = json.loads(argument.removeprefix("--defaults="))
        assert defaults["env"]["PRIVASIS_ROOT"] == root
        claims = {each["metadata"]["name"] for each in objects if each["kind"] == "PersistentVolumeClaim"}
        assert defaults["data_claim"] in claims
    template = json.loads((ROOT / "deploy" / "work-pools" / "kubernetes.json").read_text(encoding="utf-8"))
    pod = template["job_configuration"]["job_manifest"]["spec"]["template"]["spec"]
    mounts = {each["name"]: each["mountPath"] for each in pod["containers"][0]["volumeMounts"]}
    (volume,) = [
        each for each in pod["volumes"] if each.get("persistentVolumeClaim", {}).get("claimName") == "{{ data_claim }}"
    ]
    assert mounts[volume["name"]] == root


@pytest.mark.parametrize("file", [file for file in PLACES if file.is_file()], ids=lambda file: file.name)
def test_no_secret_and_no_address_of_a_package_index_is_in_a_file(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"--(?:extra-)?index-url|trusted-host", text)
    assert not re.search(r"(?i)(?:password|token|secret|api_key)['\"]?\s*[:=]\s*['\"]?[A-Za-z0-9+/]{24,}", text)


def test_every_service_is_hardened_and_answers_on_loopback_only() -> None:
    assert COMPOSE["services"].keys() == {"database", "server", "register", "worker", "engine"}
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "restart" in service, name
        assert "healthcheck" in service, name
        assert not service["image"].endswith(":latest"), name
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), f"{name}: {port} is open to the network"
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert COMPOSE["services"]["database"]["networks"] == ["inside"]


def test_every_secret_of_the_compose_file_is_made_by_the_script(tmp_path: Path) -> None:
    script = tmp_path / "secrets.sh"
    script.write_text((ROOT / "deploy" / "compose" / "secrets.sh").read_text())
    subprocess.run(["bash", script], check=True, capture_output=True)
    made = {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
    assert {Path(each["file"]).name for each in COMPOSE["secrets"].values()} == made.keys()
    assert re.fullmatch(r"privasis:[0-9a-f]{32}", made["api-auth"])
    assert len(made["ray-token"]) == 64
    subprocess.run(["bash", script], check=True, capture_output=True)
    assert {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()} == made, "made anew"


def entrypoint(tmp_path: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", CONTAINERS / "entrypoint", *command],
        env={"PATH": "/usr/bin:/bin"} | environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )


def test_a_secret_in_a_file_becomes_a_variable(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    done = entrypoint(tmp_path, "bash", "-c", "echo $A_KEY${A_KEY_FILE-}", A_KEY_FILE=str(tmp_path / "key"))
    assert done.stdout == "s3cret\n"


def test_a_secret_that_is_not_mounted_ends_the_container(tmp_path: Path) -> None:
    done = entrypoint(tmp_path, "true", A_PASSWORD_FILE=str(tmp_path / "none"))
    assert done.returncode == 3
    assert "A_PASSWORD_FILE" in done.stderr


def test_a_container_ends_with_the_status_of_its_command(tmp_path: Path) -> None:
    assert entrypoint(tmp_path, "bash", "-c", "exit 7").returncode == 7


def test_the_token_of_a_clouds_identity_stays_the_file_that_is_renewed(tmp_path: Path) -> None:
    file = {"AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token")}
    done = entrypoint(
        tmp_path, "bash", "-c", "echo $AWS_WEB_IDENTITY_TOKEN_FILE ${AWS_WEB_IDENTITY_TOKEN-none}", **file
    )
    assert done.stdout == f"{tmp_path / 'token'} none\n"


RAY = """#!/bin/bash
mkdir -p "$RAY_TMPDIR/ray"
echo 127.0.0.1 > "$RAY_TMPDIR/ray/ray_current_cluster"
exec sleep 60
"""
TOLD = """
trap 'told=$((told + 1)); echo told $told' TERM
echo begun
for ((i = 0; i < 20; i++)); do sleep 0.1; done
"""


@pytest.mark.parametrize(("node", "told"), [("join", 1), ("head", 2)])
def test_a_run_is_told_to_end_once_and_may_drain_and_a_worker_twice(tmp_path: Path, node: str, told: int) -> None:
    ray = tmp_path / "bin" / "ray"
    ray.parent.mkdir()
    ray.write_text(RAY)
    ray.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}/bin:/usr/bin:/bin",
        "RAY_TMPDIR": str(tmp_path),
        "PRIVASIS_SECOND_SIGNAL_S": "0.4",
    }
    environment |= {"PRIVASIS_RAY_NODE": node, "PRIVASIS_RAY_ADDRESS": "127.0.0.1:6379"}
    # What Prefect starts a run with has no handler of the signal: it ends at once, and the run below it goes on.
    command = ["bash", "-c", 'bash -c "$0"; exit', TOLD] if node == "join" else ["bash", "-c", TOLD]
    with subprocess.Popen(
        ["bash", CONTAINERS / "entrypoint", *command], env=environment, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as container:
        assert container.stdout is not None
        assert container.stdout.readline() == "begun\n"
        container.terminate()
        said = container.stdout.read()
    assert said.splitlines() == [f"told {count}" for count in range(1, told + 1)]
    assert container.returncode in (0, 143)


def test_what_kuberay_asks_whether_a_node_lives_is_in_the_image() -> None:
    assert re.search(r"apt-get install [^&]*\bwget\b", stages()["factory"])


def test_a_home_that_can_be_written_is_in_the_image() -> None:
    assert re.search(r"\bHOME=/tmp\b", stages()["factory"])


def test_a_pool_gets_the_defaults_of_its_cluster() -> None:
    template = json.loads((ROOT / "deploy" / "work-pools" / "kubernetes.json").read_text())
    changed = with_defaults(template, {"namespace": "else", "secret": "keys"})
    variables = changed["variables"]["properties"]
    assert (variables["namespace"]["default"], variables["secret"]["default"]) == ("else", "keys")
    assert variables["image"] == template["variables"]["properties"]["image"]
    with pytest.raises(RegistrationFailed, match="no nmespace; it has cache_claim, command"):
        with_defaults(template, {"nmespace": "else"})


def test_every_default_that_the_chart_gives_is_a_variable_of_the_pool() -> None:
    template = json.loads((ROOT / "deploy" / "work-pools" / "kubernetes.json").read_text())
    rendered = (ROOT / "deploy" / "k8s" / "rendered" / "production.yaml").read_text()
    job = next(each for each in yaml.safe_load_all(rendered) if each["kind"] == "Job")
    argument = job["spec"]["template"]["spec"]["containers"][0]["args"][-1]
    with_defaults(template, json.loads(argument.removeprefix("--defaults=")))


def test_deployments_are_moved_to_the_pool_that_is_asked_for() -> None:
    moved = on_pool(
        {"name": "x", "deployments": [{"name": "a", "work_pool": {"name": "process", "job_variables": {}}}]}, "k"
    )
    assert moved["deployments"][0]["work_pool"] == {"name": "k", "job_variables": {}}
    assert moved["name"] == "x"


@pytest.mark.skipif(not DEPLOYMENTS.exists(), reason="no deploy/prefect.yaml")
def test_every_deployment_names_a_pool_that_can_be_replaced() -> None:
    deployments = yaml.safe_load(DEPLOYMENTS.read_text(encoding="utf-8"))
    pools = {each["work_pool"]["name"] for each in on_pool(deployments, "kubernetes")["deployments"]}
    assert pools == {"kubernetes"}
