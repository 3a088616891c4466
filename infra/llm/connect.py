"""Which model a run talks to, as frozen data, and the one place that turns it into a live client."""

import os
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from infra.llm.dialect import Dialect
from infra.llm.limiter import Limiter, Terms
from infra.llm.limits import AdaptiveLimit, Limit
from infra.llm.prices import Price, list_price
from infra.llm.shared_limit import SharedLimit
from infra.llm.types import Backend, BackendGone, Embedder

Address = Annotated[str, Field(pattern="^https?://")]  # without, the error comes late and blames the server


class Endpoint(BaseModel):
    """A model behind the OpenAI protocol: ours on loopback or the cluster, or a paid one.

    Small, picklable and without secrets: it travels in task parameters. The key stays in the environment of the
    machine that connects.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1)
    base_url: Address | None = Field(
        default=None, description="ends in /v1; none means the SDK's default, OpenAI itself"
    )
    replicas: tuple[Address, ...] = Field(
        default=(), description="further servers of the same model, addresses as above"
    )
    roster: str | None = Field(
        default=None, description="the run's actor that knows which servers are up, in place of addresses and key"
    )
    api_key_env: str | None = Field(
        default="OPENAI_API_KEY", description="name of the variable that holds the key; none for a server without keys"
    )
    request_timeout_s: float = Field(default=300, gt=0, description="from sending to the last byte, without our queue")
    max_in_flight: int = Field(
        default=64, ge=1, description="requests open at once, all workers together; 429s lower it"
    )
    requests_per_minute: float | None = Field(
        default=None, gt=0, description="what the account allows, all workers together; none reads it off the headers"
    )
    tokens_per_minute: float | None = Field(default=None, gt=0, description="likewise, read and written together")
    max_attempts: int = Field(default=6, ge=1, description="tries of one call; see infra.llm.retry for 429")
    max_wait_s: float = Field(default=900, gt=0, description="time one call may spend waiting between its tries")
    extra_body: dict[str, JsonValue] = Field(
        default_factory=dict, description='sent with every request, e.g. {"chat_template_kwargs": {...}}'
    )
    price: Price | str | None = Field(
        default=None, description="USD per million tokens, or a name in the price table; none means the model's name"
    )
    # Where servers differ:
    adapter: Literal["openai", "litellm"] = Field(
        default="openai", description="who speaks to it: litellm (an extra) knows providers with other protocols"
    )
    sends_seed: bool = True
    sends_temperature: bool = Field(default=True, description="OpenAI's reasoning models take no temperature, no top_p")
    length_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="OpenAI's reasoning models take only the second"
    )
    dialect: Dialect = Field(
        default="openai", description="what the server takes beyond the protocol: penalties, constraints on free text"
    )


class Batching(BaseModel):
    """How requests go out by a provider's Batch API: half the price, an answer within a day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    linger_s: float = Field(
        default=60.0, gt=0, description="a batch goes out when nothing more was asked for so long, or when it is full"
    )
    poll_s: float = Field(default=30.0, gt=0, description="how often its state is asked for")


class MiniLM(BaseModel):
    """The embedded MiniLM: no torch, no network, 384 dimensions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["minilm"] = "minilm"
    threads: int = Field(default=1, ge=1, description="CPU threads of onnxruntime")


class OpenAIEmbedding(BaseModel):
    """An embedding model behind the OpenAI protocol."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["openai"] = "openai"
    endpoint: Endpoint
    dimension: int = Field(ge=1, description="length of one vector; a reply of another length is an error")
    batch: int = Field(default=64, ge=1, description="texts a request")


EmbedderConfig = Annotated[MiniLM | OpenAIEmbedding, Field(discriminator="kind")]


def price_of(endpoint: Endpoint) -> Price:
    """Return what the endpoint's tokens cost.

    Raises:
        UnknownPrice: neither the endpoint nor the price table says it.
    """
    if isinstance(endpoint.price, Price):
        return endpoint.price
    return list_price(endpoint.price or endpoint.model)


def api_key(endpoint: Endpoint) -> str:
    """Read the endpoint's key from the environment.

    Raises:
        BackendGone: the variable is not set.
    """
    if endpoint.api_key_env is None:
        return "none"  # the SDK wants one, the server does not look
    key = os.environ.get(endpoint.api_key_env)
    if not key:
        raise BackendGone(
            f"{endpoint.model}: set the environment variable {endpoint.api_key_env} to its API key", endpoint.model
        )
    return key


def limit_of(endpoint: Endpoint, limiter: Limiter | None) -> Limit:
    """Return the limit that the calls of one client go through: shared with others, where there is a limiter."""
    if limiter is None:
        return AdaptiveLimit(endpoint.max_in_flight)
    terms = Terms(endpoint.max_in_flight, endpoint.requests_per_minute, endpoint.tokens_per_minute)
    return SharedLimit(limiter, f"{endpoint.base_url or 'OpenAI'} {endpoint.model}", terms)


def connect(endpoint: Endpoint, limiter: Limiter | None = None) -> Backend:
    """Return a client for ``endpoint``; it opens no connection before ``async with``.

    Args:
        endpoint: what to connect to.
        limiter: of the run; without one, the client has the server to itself.

    Raises:
        BackendGone: the key is missing.
        PackageMissing: the adapter needs an extra that is not installed.
    """
    if endpoint.adapter == "litellm":
        from infra.llm.litellm_api import LiteLLMBackend

        return LiteLLMBackend(endpoint, api_key(endpoint), limit_of(endpoint, limiter))
    if endpoint.roster is None and not endpoint.replicas:
        return _served(endpoint, limiter, api_key(endpoint))
    # A replica that fails is given up soon: its calls go to the others. Each has a limit of its own.
    alone = endpoint.model_copy(update={"replicas": (), "max_attempts": min(2, endpoint.max_attempts)})

    def one(address: str, key: str) -> Backend:
        return _served(alone.model_copy(update={"base_url": address}), limiter, key)

    if endpoint.roster is not None:
        from infra.llm.roster import RosterBackend
        from infra.ray.roster import RayRoster

        return RosterBackend(endpoint.model, RayRoster(endpoint.roster), one, patience_s=endpoint.max_wait_s)
    from infra.llm.replicas import ReplicatedBackend

    addresses, key = (endpoint.base_url or "", *endpoint.replicas), api_key(endpoint)
    return ReplicatedBackend(
        endpoint.model, {address: one(address, key) for address in addresses}, patience_s=endpoint.max_wait_s
    )


def _served(endpoint: Endpoint, limiter: Limiter | None, key: str) -> Backend:
    """Return a client for one server."""
    from infra.llm.openai_api import OpenAIBackend  # here: the SDK takes a second to import, a configuration does not

    limit = limit_of(endpoint, limiter)
    backend = OpenAIBackend(endpoint, key, limit)
    if endpoint.dialect != "vllm" or endpoint.base_url is None:
        return backend
    from infra.llm.queue_watch import QueueWatch

    return QueueWatch(backend, limit, endpoint.base_url)


def connect_embedder(config: EmbedderConfig, limiter: Limiter | None = None) -> Embedder:
    """Return the embedder that ``config`` describes.

    Args:
        config: which.
        limiter: of the run; without one, the client has its server to itself.

    Raises:
        BackendGone: the key is missing.
        BackendUnavailable: a package that carries the model is.
    """
    match config:
        case MiniLM():
            from infra.llm.minilm import MiniLMEmbedder  # here: onnxruntime is not needed to read a configuration

            return MiniLMEmbedder(threads=config.threads)
        case OpenAIEmbedding():
            from infra.llm.openai_api import OpenAIEmbedder

            return OpenAIEmbedder(config, api_key(config.endpoint), limit_of(config.endpoint, limiter))
