"""Starts the engines that a mix asks for, and says how to reach them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from flows.config import Embedded, LiteLLM, MixedEngine, Remote, RunConfig, Simulated, SimulatedEmbedding, Vllm
from infra.engines import llama_cpp, vllm
from infra.engines.simulator import process as simulator
from infra.engines.simulator.config import SimulatorConfig
from infra.llm.connect import EmbedderConfig, Endpoint, MiniLM, OpenAIEmbedding
from infra.llm.prices import FREE
from tasks.shards.steps import MixEntry
from tasks.synthesis.steps import SynthesisJob


@dataclass(frozen=True)
class Served:
    """The mix as it is served now."""

    models: tuple[MixEntry, ...]
    embedder: EmbedderConfig


@contextmanager
def engines(run: RunConfig) -> Iterator[Served]:
    """Start what ``run`` needs for the length of the block.

    Raises:
        ModelMissing: the file of an embedded model cannot be found.
        EngineFailed, SimulatorFailed: an engine did not start.
    """
    with ExitStack() as stack:
        endpoints = [_endpoint(entry, stack) for entry in run.models]
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
