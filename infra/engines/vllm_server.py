"""One replica of a vLLM model on the machine that this process runs on: its command line, its environment, its log."""

import json
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from infra.engines.process import EngineProcess, launch
from infra.engines.replica import Patience
from infra.settings import settings

KEY_ENV = "VLLM_API_KEY"  # vLLM reads it, and so do our clients
GRACE_S = 20.0  # the supervisor gives its server 10


class EngineMissing(Exception):
    """vLLM is not installed where the run says. The message says what to do."""


class VllmConfig(BaseModel):
    """Replicas of one model behind ``vllm serve``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(
        min_length=1,
        description="name on the hub, folder with config, tokenizer and safetensors, an embedded model, or a GGUF file",
    )
    python: Path = Field(
        default=Path(".venv-vllm/bin/python"), description="interpreter of the environment that holds vLLM"
    )
    place: Literal["here", "cluster"] = Field(
        default="here", description="on this machine, or on those nodes of the Ray cluster that have the GPUs"
    )
    replicas: int = Field(default=1, ge=1, description="server processes, each with the whole model")
    gpus_each: int = Field(default=1, ge=0, description="GPUs of one replica (tensor parallel); 0 for the CPU build")
    context_tokens: int = Field(default=8192, ge=256, description="prompt and reply of one request")
    slots: int = Field(default=256, ge=1, description="requests one replica works on at once")
    cpu_cache_gib: int = Field(default=1, ge=1, description="KV cache of a replica on the CPU build")
    chat_template_kwargs: dict[str, JsonValue] = Field(
        default={"enable_thinking": False}, description="for the chat template; Qwen3 would think aloud without"
    )
    arguments: tuple[str, ...] = Field(default=(), description="more arguments of `vllm serve`")
    request_timeout_s: float = Field(default=600, gt=0)
    start_s: float = Field(default=900, gt=0, description="from a replica's start to its first answer")
    stall_s: float = Field(
        default=120, gt=0, description="a replica that has requests and moves no token for so long is replaced"
    )
    failures: int = Field(default=5, ge=1, description="starts in a row that came to nothing, before the run ends")


@contextmanager
def served(
    config: VllmConfig, replica: int, source: str, *, host: str, gpus: Sequence[str], key: str
) -> Iterator[EngineProcess]:
    """Run a supervised replica for the length of the block; it is not ready at once.

    Its log is deleted when all went well, and kept where the error says when not.

    Args:
        config: which model, and how.
        replica: its number, for the log's name.
        source: folder or hub name that vLLM loads, see ``servable``.
        host: address to listen at.
        gpus: numbers or names of its GPUs; none for the CPU build.
        key: what requests have to show.
    """
    port = _free_port(host)
    log = _new_log(replica)
    asked = {
        "command": command(config, source, host, port),
        "environment": _environment(config, gpus),
        "url": f"http://{host}:{port}",
        "patience": asdict(Patience(config.start_s, config.stall_s, config.failures)),
    }
    with launch(
        "infra.engines.replica_server",
        [json.dumps(asked)],
        log=log,
        ready_within_s=None,
        grace_s=GRACE_S,
        environment={KEY_ENV: key},  # not among what was asked: that is on the command line, for all to read
    ) as engine:
        yield engine
    log.unlink()


def check_interpreter(config: VllmConfig) -> None:
    """Make sure that this machine has the environment that holds vLLM.

    Raises:
        EngineMissing: there is no such interpreter.
    """
    if not config.python.exists():
        target = "setup-vllm" if config.gpus_each else "setup-vllm-cpu"
        raise EngineMissing(
            f"{config.python}: no such interpreter on {socket.gethostname()}: `make {target}`, or set `python` of the"
            " engine"
        )


def visible_gpus(devices: Path = Path("/dev")) -> list[str]:
    """Return the numbers or names of the GPUs that this process may use."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [each for each in named.split(",") if each]
    numbers = (path.name.removeprefix("nvidia") for path in devices.glob("nvidia[0-9]*"))
    return sorted((number for number in numbers if number.isdecimal()), key=int)


def command(config: VllmConfig, source: str, host: str, port: int) -> list[str]:
    """Return the command line of a server."""
    # In the environment's CPU package the command `vllm serve` itself fails; the module is the same server.
    return [
        str(config.python.absolute()),
        *("-m", "vllm.entrypoints.openai.api_server"),
        f"--model={source}",
        f"--served-model-name={config.model}",
        f"--host={host}",
        f"--port={port}",
        f"--max-model-len={config.context_tokens}",
        f"--max-num-seqs={config.slots}",
        f"--tensor-parallel-size={max(1, config.gpus_each)}",
        "--dtype=bfloat16",
        # Else models fill the gaps between tokens of JSON with white space for ever; a request cannot ask for it.
        '--structured-outputs-config={"backend": "guidance", "disable_any_whitespace": true}',
        "--enable-prompt-tokens-details",  # else no answer says how much of its prompt was in the prefix cache
        f"--default-chat-template-kwargs={json.dumps(config.chat_template_kwargs)}",
        *config.arguments,
    ]


def _environment(config: VllmConfig, gpus: Sequence[str]) -> dict[str, str]:
    ours = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if not config.gpus_each:
        return ours | {"VLLM_CPU_KVCACHE_SPACE": str(config.cpu_cache_gib)}
    return ours | {"CUDA_VISIBLE_DEVICES": ",".join(gpus)}


def _free_port(host: str) -> int:
    """Pick a port that is free now: a replica keeps its address when its process is replaced."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port


def _new_log(replica: int) -> Path:
    folder = settings().cache / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f"vllm-{replica}-", suffix=".log", dir=folder)
    os.close(descriptor)
    return Path(name)
