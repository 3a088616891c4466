from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path("deploy/engines")


def _loaded(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text())
    return loaded


@pytest.mark.skipif(find_spec("grpc_reflection") is None, reason="ray[serve] is not installed; `make test-vllm` has it")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray's own schema
@pytest.mark.parametrize("name", ["serve.yaml", "serve-cpu.yaml"])
def test_ray_serve_takes_the_application(name: str) -> None:
    from ray.serve import schema

    deploy = schema.ServeDeploySchema.model_validate(_loaded(name))
    assert [app.import_path for app in deploy.applications] == ["ray.serve.llm:build_openai_app"]
    assert deploy.http_options.host == "127.0.0.1"


@pytest.mark.parametrize("name", ["serve.yaml", "serve-cpu.yaml"])
def test_the_application_guards_json_and_thinks_silently(name: str) -> None:
    (application,) = _loaded(name)["applications"]
    (model,) = application["args"]["llm_configs"]
    engine = model["engine_kwargs"]
    assert engine["structured_outputs_config"] == {"backend": "guidance", "disable_any_whitespace": True}
    assert engine["default_chat_template_kwargs"] == {"enable_thinking": False}
    assert engine["max_num_seqs"] == model["deployment_config"]["max_ongoing_requests"]
