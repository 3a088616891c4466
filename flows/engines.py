"""Starts the engines that a mix asks for, and says how to reach them."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from flows.config import (
    ConfigError,
    Embedded,
    LiteLLM,
    MixedEngine,
    Remote,
    RunConfig,
    Simulated,
    SimulatedEmbedding,
    Vllm,
)
from infra.engines import llama_cpp, vllm
from infra.engines.simulator import process as simulator
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.vllm_server import VllmConfig
from infra.llm.connect import EmbedderConfig, Endpoint, MiniLM, OpenAIEmbedding
from infra.llm.prices import FREE
from infra.ray.cluster import Size
from infra.ray.engines import size_of, start_on_cluster
from tasks.shards.steps import MixEntry
from tasks.synthesis.steps import SynthesisJob


@dataclass(frozen=True)
class Served:
    """The mix as it is served now."""

    models: tuple[MixEntry, ...]
    embedder: EmbedderConfig


def asked_of(run: RunConfig) -> Size:
    """Return what the cluster has to have: for the workers, and for the engines that are placed on it."""
    placed = [size_of(config) for entry in run.models if (config := _placed(entry))]
    return Size(
        nodes=run.nodes,
        cpus=(1 if run.workers == "cluster" else run.workers) + sum(size.cpus for size in placed),
        gpus=sum(size.gpus for size in placed),
    )


@contextmanager
def engines(run: RunConfig, connected: AbstractContextManager[Size] | None = None) -> Iterator[Served]:
    """Start what ``run`` needs for the length of the block.

    Args:
        run: has the models.
        connected: to the run's cluster, entered when this machine's engines are up: what Ray starts inherits their
            keys. The engines that are placed on the cluster start last.

    Raises:
        ConfigError: an engine has its place on a cluster and there is none, or where the cluster cannot reach it.
        ModelMissing: the file of an embedded model cannot be found.
        EngineFailed, SimulatorFailed: an engine did not start.
    """
    with ExitStack() as stack:
        here = {at: _endpoint(entry, stack) for at, entry in enumerate(run.models) if not _placed(entry)}
        size = None if connected is None else stack.enter_context(connected)
        _check_reach(run, size)
        endpoints = [
            stack.enter_context(start_on_cluster(config)) if (config := _placed(entry)) else here[at]
            for at, entry in enumerate(run.models)
        ]
        yield Served(
            tuple(_entry(run, entry, endpoint) for entry, endpoint in zip(run.models, endpoints, strict=True)),
            _embedder(run, endpoints),
        )


def job_of(run: RunConfig, served: Served) -> SynthesisJob:
    """Put together what workers need."""
    return SynthesisJob(
        root=run.root.resolve(),
        dataset=run.dataset,
        seed=run.seed,
        config=run.synthesis,
        models=served.models,
        embedder=served.embedder,
        embedder_identity=_embedder_identity(run),
        in_flight=run.in_flight,
    )


def planned_job(run: RunConfig) -> SynthesisJob:
    """Return the job with endpoints that lead nowhere: enough to plan, without starting anything."""
    endpoints = [Endpoint(model=entry.name, price=FREE) for entry in run.models]
    models = tuple(_entry(run, entry, endpoint) for entry, endpoint in zip(run.models, endpoints, strict=True))
    return job_of(run, Served(models, MiniLM()))


def _placed(entry: MixedEngine) -> VllmConfig | None:
    """Return the engine of ``entry`` if its place is on the cluster."""
    return entry.engine if isinstance(entry.engine, Vllm) and entry.engine.place == "cluster" else None


def _check_reach(run: RunConfig, size: Size | None) -> None:
    for entry in run.models:
        if size is None:
            if _placed(entry):
                raise ConfigError(f'{entry.name}: place = "cluster" is for stages that run on one: leave it out here')
        elif size.nodes > 1 and isinstance(entry.engine, Embedded | Simulated | Vllm) and not _placed(entry):
            raise ConfigError(
                f"{entry.name}: an engine of kind {entry.engine.kind!r} listens on this machine alone, and the cluster"
                f' has {size.nodes} nodes: give vLLM place = "cluster", or the address of a server (kind "openai")'
            )


def _endpoint(entry: MixedEngine, stack: ExitStack) -> Endpoint:
    match entry.engine:
        case Embedded():
            return stack.enter_context(llama_cpp.start(entry.engine))
        case Vllm():
            return stack.enter_context(vllm.start(entry.engine))
        case Simulated() as asked:
            config = SimulatorConfig(**asked.model_dump(exclude={"kind", "request_timeout_s", "max_in_flight"}))
            running = stack.enter_context(simulator.start(config))
            return Endpoint(
                model=running.model,
                base_url=running.base_url,
                api_key_env=None,
                price=FREE,
                request_timeout_s=asked.request_timeout_s,
                max_in_flight=asked.max_in_flight,
            )
        case Remote() | LiteLLM():
            return Endpoint(**entry.engine.model_dump(exclude={"kind"}))


def _entry(run: RunConfig, entry: MixedEngine, endpoint: Endpoint) -> MixEntry:
    return MixEntry(
        endpoint=endpoint,
        weight=entry.weight,
        repeat_penalty=entry.repeat_penalty,
        forbidden_characters=entry.forbidden_characters,
        identity=entry.identity(),
        hands_over=run.on_model_failure == "hand_over",
        batching=entry.batch,
    )


def _embedder(run: RunConfig, endpoints: list[Endpoint]) -> EmbedderConfig:
    match run.embedder:
        case SimulatedEmbedding():
            for entry, endpoint in zip(run.models, endpoints, strict=True):
                if isinstance(entry.engine, Simulated):
                    return OpenAIEmbedding(endpoint=endpoint, dimension=entry.engine.dimension)
            raise AssertionError("RunConfig has checked that there is a simulator")
        case MiniLM() | OpenAIEmbedding() as config:
            return config


def _embedder_identity(run: RunConfig) -> str:
    match run.embedder:
        case OpenAIEmbedding(endpoint=endpoint):
            return endpoint.model
        case other:
            return other.kind
