from contextlib import nullcontext
from pathlib import Path

import pytest

from flows.config import ConfigError, RunConfig, load_run
from flows.engines import asked_of, engines
from infra.ray.cluster import Size

PLACED = """
nodes = 3
workers = 5
models = [
    {{ engine = {{ kind = "vllm", model = "m", place = "{place}", replicas = 2, gpus_each = 4 }} }},
    {{ engine = {{ kind = "openai", model = "n", api_key_env = "NONE" }} }},
]
"""


def run_of(tmp_path: Path, text: str) -> RunConfig:
    (tmp_path / "run.toml").write_text(text)
    return load_run(tmp_path / "run.toml", {})


def test_a_cluster_is_asked_for_nodes_workers_and_the_engines_placed_on_it(tmp_path: Path) -> None:
    assert asked_of(run_of(tmp_path, PLACED.format(place="cluster"))) == Size(nodes=3, cpus=5 + 8, gpus=8)
    assert asked_of(run_of(tmp_path, PLACED.format(place="here"))) == Size(nodes=3, cpus=5, gpus=0)


def test_an_engine_placed_on_a_cluster_needs_one(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match='m: place = "cluster" is for stages that run on one'),
        engines(run_of(tmp_path, PLACED.format(place="cluster"))),
    ):
        pytest.fail("nothing starts")


def test_an_engine_that_only_this_machine_reaches_is_refused_on_several_nodes(tmp_path: Path) -> None:
    run = run_of(tmp_path, 'models = [{ engine = { kind = "simulator", model = "s" } }]')
    with (
        pytest.raises(ConfigError, match=r"s: an engine of kind 'simulator' listens on this machine alone.* 2 nodes"),
        engines(run, nullcontext(Size(nodes=2, cpus=4))),
    ):
        pytest.fail("workers of the other node could not reach it")
    with engines(run, nullcontext(Size(nodes=1, cpus=4))) as served:
        assert served.models[0].endpoint.model == "s"
