"""The embedded engine: llama.cpp in a child process, prebuilt, no compiler, no key, no GPU, no network."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from infra.engines import models
from infra.engines.cores import usable_cores
from infra.engines.process import launch
from infra.llm.connect import Endpoint
from infra.llm.prices import FREE
from infra.llm.types import BackendUnavailable
from infra.settings import settings

_READY_WITHIN_S = 120.0  # half a gigabyte from a cold disk


class LlamaCppConfig(BaseModel):
    """One llama.cpp engine. One serves all workers of a machine: its slots share the weights and the cores."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(default=models.DEFAULT_MODEL, description="a known model's name, or the path of a GGUF file")
    slots: int = Field(default=4, ge=1, description="requests worked on at once")
    context_tokens: int = Field(default=4096, ge=256, description="prompt and reply of one request")
    threads: int | None = Field(
        default=None, ge=1, description="none means the physical cores; fewer where other work keeps them busy"
    )
    request_timeout_s: float = Field(default=600, gt=0)


@contextmanager
def start(config: LlamaCppConfig) -> Iterator[Endpoint]:
    """Serve the model as long as the context lasts.

    A seed draws the same text again only for a request that runs alone with ``{"cache_prompt": False}`` in the
    endpoint's ``extra_body``: what is cached and what shares the batch changes the last bits of the logits.

    The log is deleted when all went well, and kept where the error says when not.

    Raises:
        ModelMissing: the model file cannot be located.
        EngineFailed: the server did not start, or ended by itself and a call found it gone.
    """
    path = models.locate(config.model)
    name = config.model if config.model in models.KNOWN_MODELS else path.stem
    arguments = [
        f"--path={path}",
        f"--name={name}",
        f"--slots={config.slots}",
        f"--context-tokens={config.context_tokens}",
        f"--threads={config.threads or usable_cores()}",
    ]
    log = _new_log()
    with launch("infra.engines.llama_cpp_server", arguments, log=log, ready_within_s=_READY_WITHIN_S) as engine:
        try:
            yield Endpoint(
                model=name,
                base_url=f"http://127.0.0.1:{engine.facts['port']}/v1",
                api_key_env=None,
                max_in_flight=config.slots,
                request_timeout_s=config.request_timeout_s,
                price=FREE,
                dialect="llama_cpp",
            )
        except BackendUnavailable:
            engine.check()
            raise
    log.unlink()


def _new_log() -> Path:
    folder = settings().cache / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="llama-cpp-", suffix=".log", dir=folder)
    os.close(descriptor)
    return Path(name)
