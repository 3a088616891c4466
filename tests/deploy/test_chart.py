"""What must hold in every rendered set of values, whether Helm is installed or not."""

import re
from pathlib import Path

import pytest
import yaml

from tests.deploy.objects import RENDERED, ROOT, all_pods, containers, objects

every_set = pytest.mark.parametrize("file", RENDERED, ids=lambda file: file.stem)


def test_three_sets_of_values_are_rendered() -> None:
    values = sorted(file.name for file in (ROOT / "deploy" / "k8s" / "values").glob("*.yaml"))
    assert [file.name for file in RENDERED] == values == ["engine.yaml", "production.yaml", "try.yaml"]


@every_set
def test_no_pod_runs_as_root_or_may_become_it(file: Path) -> None:
    assert len(all_pods(file)) >= 3
    for name, template in all_pods(file):
        pod = template["spec"]["securityContext"]
        assert pod["runAsNonRoot"] is True, name
        assert pod["runAsUser"] > 0, name
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert "hostNetwork" not in template["spec"], name
        assert "hostPID" not in template["spec"], name
        for container in containers(template):
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert "privileged" not in context, name


@every_set
def test_every_container_asks_for_what_it_needs_and_has_a_memory_limit(file: Path) -> None:
    for name, template in all_pods(file):
        for container in containers(template):
            resources = container["resources"]
            assert {"cpu", "memory"} <= resources["requests"].keys(), name
            assert "memory" in resources["limits"], name
            gpus = "nvidia.com/gpu"
            assert resources["requests"].get(gpus) == resources["limits"].get(gpus), f"{name}: Kubernetes wants both"


@every_set
def test_every_image_is_of_a_version(file: Path) -> None:
    for name, template in all_pods(file):
        for container in containers(template):
            image = container["image"]
            assert "@sha256:" in image or image.rpartition(":")[2] not in ("", "latest", image), f"{name}: {image}"


@every_set
def test_every_secret_is_a_reference(file: Path) -> None:
    for name, template in all_pods(file):
        for container in containers(template):
            for variable in container.get("env", []):
                if re.search(r"(?<!_SECRET)_(KEY|TOKEN|PASSWORD|AUTH_STRING)$", variable["name"]):
                    assert "secretKeyRef" in variable["valueFrom"], f"{name}: {variable['name']}"


@every_set
def test_nothing_may_talk_until_a_policy_says_so(file: Path) -> None:
    policies = [each["spec"] for each in objects(file) if each["kind"] == "NetworkPolicy"]
    assert {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]} in policies
    for policy in policies:
        for rule in policy.get("ingress", []):
            assert rule.get("from"), "an ingress rule without `from` opens the port to everybody"
        for rule in policy.get("egress", []):
            assert rule.get("to"), "an egress rule without `to` lets a pod reach everything"


@every_set
def test_every_way_that_is_opened_is_open_at_both_ends(file: Path) -> None:
    labels = {name: template["metadata"]["labels"] for name, template in all_pods(file)}
    run = {"app.kubernetes.io/component": "run"} | {
        name: value for name, value in next(iter(labels.values())).items() if "component" not in name
    }
    for source, target, port in wanted(file):
        for policy_type, here, there in (("egress", source, target), ("ingress", target, source)):
            ours = run if here == "run" else next(each for name, each in labels.items() if name.endswith(here))
            theirs = run if there == "run" else next(each for name, each in labels.items() if name.endswith(there))
            assert opened(file, policy_type, ours, theirs, port), f"{here} {policy_type} {there}:{port}"


def wanted(file: Path) -> list[tuple[str, str, int]]:
    kinds = {name.split()[0] for name, _ in all_pods(file)}
    ways = [("Deployment demo-worker", "Deployment demo-server", 4200), ("run", "Deployment demo-server", 4200)]
    ways += [("Job demo-register", "Deployment demo-server", 4200)]
    if "StatefulSet" in kinds:
        ways.append(("Deployment demo-server", "StatefulSet demo-database", 5432))
    if "RayCluster" in kinds:
        ways += [
            ("run", "demo-ray head", 6379),
            ("demo-ray shards", "demo-ray head", 6379),
            ("demo-ray head", "run", 9),
        ]
    if any(name.endswith("demo-engine") for name, _ in all_pods(file)):
        ways.append(("run", "Deployment demo-engine", 8000))
    return ways


def opened(file: Path, direction: str, ours: dict[str, str], theirs: dict[str, str], port: int) -> bool:
    for each in objects(file):
        if each["kind"] != "NetworkPolicy" or not selects(each["spec"]["podSelector"], ours):
            continue
        for rule in each["spec"].get(direction, []):
            peers = rule["from" if direction == "ingress" else "to"]
            ports = [entry["port"] for entry in rule.get("ports", [{"port": port}])]
            if port in ports and any(selects(peer["podSelector"], theirs) for peer in peers if "podSelector" in peer):
                return True
    return False


def selects(selector: dict[str, object], labels: dict[str, str]) -> bool:
    exact: dict[str, str] = selector.get("matchLabels", {})  # type: ignore[assignment]
    among: list[dict[str, object]] = selector.get("matchExpressions", [])  # type: ignore[assignment]
    assert all(each["operator"] == "In" for each in among)
    return all(labels.get(name) == value for name, value in exact.items()) and all(
        labels.get(str(each["key"])) in each["values"]  # type: ignore[operator]
        for each in among
    )


@every_set
def test_only_the_worker_may_ask_kubernetes_for_anything(file: Path) -> None:
    bound = {subject["name"] for each in objects(file) if each["kind"] == "RoleBinding" for subject in each["subjects"]}
    assert bound == {"demo-worker"}
    assert not [each for each in objects(file) if each["kind"].startswith("ClusterRole")]
    rules = [rule for each in objects(file) if each["kind"] == "Role" for rule in each["rules"]]
    assert not [rule for rule in rules if "*" in rule["verbs"] + rule["resources"] or "secrets" in rule["resources"]]
    for name, template in all_pods(file):
        spec = template["spec"]
        if name.endswith(
            (" demo-worker", " head")
        ):  # the autoscaler in the head adds nodes; KubeRay gives it an account
            continue
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["serviceAccountName"] == "demo-none", name


@every_set
def test_a_drain_takes_one_pod_of_a_part_at_a_time(file: Path) -> None:
    budgets = [each["spec"] for each in objects(file) if each["kind"] == "PodDisruptionBudget"]
    of_ours = [each["selector"]["matchLabels"] for each in budgets]
    for each in objects(file):
        if each["kind"] == "Deployment":
            assert each["spec"]["selector"]["matchLabels"] in of_ours, each["metadata"]["name"]
    assert {each["maxUnavailable"] for each in budgets} <= {0, 1}


def test_the_ray_of_the_chart_is_that_of_the_lock() -> None:
    values = yaml.safe_load((ROOT / "deploy" / "k8s" / "chart" / "values.yaml").read_text())
    assert f"\nray=={values['ray']['version']} " in (ROOT / "deploy" / "locks" / "base.txt").read_text()


def test_the_images_of_the_chart_are_those_of_the_project() -> None:
    chart = yaml.safe_load((ROOT / "deploy" / "k8s" / "chart" / "Chart.yaml").read_text())
    assert f'\nversion = "{chart["appVersion"]}"\n' in (ROOT / "pyproject.toml").read_text()
