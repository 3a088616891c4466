"""What the tools of deployment say themselves: Helm, Docker Compose, hadolint, the schemas of Kubernetes and of Ray.

They are in an environment of their own (`make setup-deploy`, half a gigabyte), and these tests are skipped without it.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("PRIVASIS_DEPLOY_TOOLS", ROOT / ".venv-deploy" / "bin"))
RENDERED = sorted((ROOT / "deploy" / "k8s" / "rendered").glob("*.yaml"))
SCHEMAS = Path(__file__).parent / "schemas"
KUBERNETES = ("1.31", "1.34")

pytestmark = pytest.mark.skipif(not (TOOLS / "python").exists(), reason="`make setup-deploy` installs what these ask")

VALIDATE = """
import sys, json, kubernetes_validate
version, objects = sys.argv[1], json.load(sys.stdin)
for each in objects:
    kubernetes_validate.validate(each, version, strict=True)
print(len(objects))
"""
REFUSED = """
import sys, json, helm_python as helm
with helm.Chart.load(sys.argv[1]) as chart:
    try:
        chart.render(json.load(sys.stdin), name="demo", namespace="privasis")
    except helm.HelmError as error:
        print(error)
"""


def tool(*command: str | Path, given: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    program = [str(TOOLS / command[0]), *map(str, command[1:])]
    return subprocess.run(program, input=given, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_the_rendered_manifests_are_what_helm_makes_of_the_chart(tmp_path: Path) -> None:
    done = tool("python", ROOT / "tests" / "deploy" / "render.py", tmp_path)
    assert done.returncode == 0, done.stderr
    for file in RENDERED:
        assert (tmp_path / file.name).read_text() == file.read_text(), f"{file}: run `make render`"
    assert len(RENDERED) == len(list(tmp_path.iterdir())) == 3


def test_helm_finds_nothing_to_mend_in_the_chart() -> None:
    said = tool("python", "-c", "import helm_python as h, json; print(json.dumps(h.lint('deploy/k8s/chart')))")
    messages = json.loads(said.stdout)["messages"]
    # An icon is for a shop window; and without values the chart rightly asks for a database.
    assert [each["error"] for each in messages if "icon" not in each["error"] and "database" not in each["error"]] == []


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"enginee": {}, "database": {"bundled": True}}, "enginee"),
        ({"database": {"bundled": False}}, "/database/host"),
        ({"database": {"bundled": True}, "images": {"factory": {"tag": "latest"}}}, "/images/factory/tag"),
        ({"database": {"bundled": True}, "images": {"engine": {"digest": "sha256:12"}}}, "/images/engine/digest"),
        ({"database": {"bundled": True}, "ray": {"workers": {"max": "4"}}}, "/ray/workers/max"),
    ],
)
def test_values_that_are_wrong_are_refused_by_name(values: dict[str, object], named: str) -> None:
    assert named in tool("python", "-c", REFUSED, "deploy/k8s/chart", given=json.dumps(values)).stdout


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("file", RENDERED, ids=lambda file: file.stem)
def test_every_object_fits_the_schema_of_kubernetes(file: Path, version: str) -> None:
    objects = [
        each
        for each in yaml.safe_load_all(file.read_text())
        if "." not in each["apiVersion"].split("/")[0] or ".k8s.io" in each["apiVersion"]
    ]
    done = tool("python", "-c", VALIDATE, version, given=json.dumps(objects))
    assert done.stdout.strip() == str(len(objects)), done.stderr[-2000:]


@pytest.mark.parametrize("file", RENDERED, ids=lambda file: file.stem)
def test_every_custom_object_fits_its_own_schema_and_its_pods_that_of_kubernetes(file: Path) -> None:
    pods = []
    for each in yaml.safe_load_all(file.read_text()):
        if each["kind"] not in ("RayCluster", "ScaledObject"):
            continue
        Draft202012Validator(json.loads((SCHEMAS / f"{each['kind']}.json").read_text())).validate(each)
        if each["kind"] == "RayCluster":
            groups = [each["spec"]["headGroupSpec"], *each["spec"]["workerGroupSpecs"]]
            pods += [{"apiVersion": "v1", "kind": "PodTemplate", "template": group["template"]} for group in groups]
    done = tool("python", "-c", VALIDATE, KUBERNETES[-1], given=json.dumps(pods))
    assert done.stdout.strip() == str(len(pods)), done.stderr[-2000:]


def test_a_job_of_the_work_pool_fits_the_schema_of_kubernetes() -> None:
    template = json.loads((ROOT / "deploy" / "work-pools" / "kubernetes.json").read_text())
    values = {name: each["default"] for name, each in template["variables"]["properties"].items()}
    job = filled(template["job_configuration"]["job_manifest"], values | {"name": "run", "env": [], "command": ["x"]})
    done = tool("python", "-c", VALIDATE, KUBERNETES[-1], given=json.dumps([job]))
    assert done.stdout.strip() == "1", done.stderr[-2000:]


def filled(node: object, values: dict[str, object]) -> object:
    """Put values for ``{{ name }}``, as Prefect does."""
    if isinstance(node, dict):
        return {name: filled(each, values) for name, each in node.items()}
    if isinstance(node, list):
        return [filled(each, values) for each in node]
    if isinstance(node, str) and "{{" in node:
        whole = node.startswith("{{ ") and node.endswith(" }}") and node.count("{{") == 1
        if whole:
            return values[node[3:-3]]
        for name, value in values.items():
            node = node.replace(f"{{{{ {name} }}}}", str(value))
    return node


@pytest.mark.parametrize("profile", [[], ["--profile", "gpu"]], ids=["plain", "gpu"])
def test_docker_compose_takes_the_compose_file(profile: list[str]) -> None:
    done = tool("docker-compose", "-f", "deploy/compose/compose.yaml", *profile, "config", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


def test_hadolint_finds_nothing_in_the_container_file() -> None:
    done = tool("hadolint", "-c", "deploy/containers/hadolint.yaml", "deploy/containers/Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")
