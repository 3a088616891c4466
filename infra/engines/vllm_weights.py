"""What vLLM loads: it reads safetensors only, and the embedded models are GGUF files in packages."""

import importlib.util
import subprocess
import sys
from pathlib import Path

from infra.engines.models import KNOWN_MODELS, ModelMissing

_NEEDED = ("torch", "transformers", "gguf")  # of this environment, not of vLLM's


def is_gguf(model: str) -> bool:
    """Tell whether ``model`` is an embedded one, or a GGUF file of one's own."""
    return model in KNOWN_MODELS or Path(model).suffix == ".gguf"


def servable(model: str) -> str:
    """Return the folder or hub name that vLLM is to load for ``model``.

    An embedded model, or a GGUF file, becomes a folder of safetensors in the cache, the same that ``surprise score``
    uses: its SHA-256 is checked first, and the folder's files are from then on. That takes a minute the first time, and
    memory for the whole model in float32: of another process, which gives it back.

    Raises:
        ModelMissing: the file is nowhere or is not what it should be, or what converts it is not installed.
    """
    if not is_gguf(model):
        return model
    if missing := [package for package in _NEEDED if importlib.util.find_spec(package) is None]:
        raise ModelMissing(f"{model}: turning GGUF into safetensors needs {', '.join(missing)}: `make setup-surprise`")
    done = subprocess.run(
        [sys.executable, "-m", "infra.engines.causal_lm_gguf", model], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise ModelMissing(f"{model}: not turned into safetensors: {last[0]}")
    return done.stdout.splitlines()[-1]
