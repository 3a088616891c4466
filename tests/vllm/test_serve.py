"""Ray Serve's own checks of our applications, in the environment that has it."""

import subprocess
from pathlib import Path

import pytest

from tests.vllm.interpreter import INTERPRETER, needs_vllm

pytestmark = needs_vllm

CHECK = """
import sys
import yaml
from ray.serve.schema import ServeDeploySchema
from ray.llm._internal.serve.core.ingress.builder import LLMServingArgs

(application,) = ServeDeploySchema.model_validate(yaml.safe_load(open(sys.argv[1]))).applications
(model,) = LLMServingArgs.model_validate(application.args).llm_configs
fields = model.get_engine_config()
assert fields.frontend_kwargs == {
    "default_chat_template_kwargs": {"enable_thinking": False},
    "enable_prompt_tokens_details": True,
}, fields
assert fields.engine_kwargs["structured_outputs_config"]["disable_any_whitespace"] is True, fields
print("taken:", model.model_id)
"""


@pytest.mark.parametrize("name", ["serve.yaml", "serve-cpu.yaml"])
def test_ray_serve_and_vllm_know_every_field(name: str) -> None:
    file = Path("deploy/engines", name)
    done = subprocess.run([INTERPRETER, "-c", CHECK, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "taken: " in done.stdout
