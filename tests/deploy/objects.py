"""The rendered manifests, read: objects, pods, containers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
RENDERED = sorted((ROOT / "deploy" / "k8s" / "rendered").glob("*.yaml"))

Tree = dict[str, Any]


def objects(file: Path) -> list[Tree]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def pods(each: Tree) -> Iterator[tuple[str, Tree]]:
    """The pod templates of an object, each with a name to tell it by."""
    name = f"{each['kind']} {each['metadata']['name']}"
    spec = each.get("spec", {})
    if each["kind"] == "RayCluster":
        yield f"{name} head", spec["headGroupSpec"]["template"]
        for group in spec["workerGroupSpecs"]:
            yield f"{name} {group['groupName']}", group["template"]
    elif "template" in spec:
        yield name, spec["template"]


def all_pods(file: Path) -> list[tuple[str, Tree]]:
    return [pod for each in objects(file) for pod in pods(each)]


def containers(template: Tree) -> list[Tree]:
    return [*template["spec"]["containers"], *template["spec"].get("initContainers", [])]
