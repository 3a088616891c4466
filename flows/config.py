"""A run as one TOML file: what to make, with which models, where to."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError, model_validator

from infra.engines import models as gguf
from infra.engines.llama_cpp import LlamaCppConfig
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.vllm_server import VllmConfig
from infra.llm.connect import Batching, Endpoint, MiniLM, OpenAIEmbedding
from infra.shards.location import Location
from infra.shards.ranges import ShardRange
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.splitting.assign import SplitConfig
from tasks.sanitization.config import SanitizationConfig
from tasks.synthesis.config import SynthesisConfig


class ConfigError(ValueError):
    """A run file, or a flag over it, is wrong; the message names the field."""


class Embedded(LlamaCppConfig):
    """A model that llama.cpp runs on this machine."""

    kind: Literal["llama_cpp"] = "llama_cpp"


class Simulated(SimulatorConfig):
    """The simulator: no model at all, for load and fault tests and dry runs."""

    kind: Literal["simulator"] = "simulator"
    request_timeout_s: float = Field(default=60, gt=0)
    max_in_flight: int = Field(default=256, ge=1)


class Vllm(VllmConfig):
    """A model that replicas of vLLM serve, started and watched by the run."""

    kind: Literal["vllm"] = "vllm"


class Remote(Endpoint):
    """A server that speaks the OpenAI protocol: OpenAI itself, vLLM, or any other."""

    kind: Literal["openai"] = "openai"


class LiteLLM(Endpoint):
    """A model of a provider with a protocol of its own, through litellm (an extra), named as litellm names it."""

    kind: Literal["litellm"] = "litellm"
    adapter: Literal["litellm"] = "litellm"


class SimulatedEmbedding(BaseModel):
    """Vectors from the first simulator of the mix."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["simulator"] = "simulator"


def _as_table(value: object) -> object:
    """Read ``batch = true`` as a table without settings, and ``batch = false`` as none."""
    return ({} if value else None) if isinstance(value, bool) else value


class MixedEngine(BaseModel):
    """One model of the mix."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: float = Field(
        default=1.0, gt=0, allow_inf_nan=False, description="share of the records, relative to the other weights"
    )
    repeat_penalty: float | None = Field(default=None, ge=1, le=2, description="for small models, which loop without")
    forbidden_characters: str = Field(default="", description="never in free texts, where the server can see to that")
    batch: Annotated[Batching | None, BeforeValidator(_as_table)] = Field(
        default=None, description="attributes and labels of records by the provider's Batch API: true, or how"
    )
    engine: Annotated[Embedded | Simulated | Vllm | Remote | LiteLLM, Field(discriminator="kind")]

    @model_validator(mode="after")
    def _has_batches(self) -> Self:
        if self.batch is not None and not isinstance(self.engine, Remote | Simulated):
            raise ValueError(f"batch: an engine of kind {self.engine.kind!r} has no Batch API; leave it out")
        return self

    @property
    def name(self) -> str:
        """The model's name."""
        return self.engine.model

    def identity(self) -> dict[str, JsonValue]:
        """What makes its replies what they are, whatever machine serves it."""
        match self.engine:
            case Embedded():
                known = gguf.KNOWN_MODELS.get(self.engine.model)
                return {"gguf": known.sha256 if known else self.engine.model}
            case Simulated():
                return {"simulator": self.engine.model, "seed": self.engine.seed}
            case Vllm():
                return {"model": self.engine.model, "chat_template_kwargs": self.engine.chat_template_kwargs}
            case Remote() | LiteLLM():
                return {"model": self.engine.model, "extra_body": self.engine.extra_body}


DEFAULT_MIX = (MixedEngine(engine=Embedded(), repeat_penalty=1.1, forbidden_characters="[]<>{}"),)


class RunConfig(BaseModel):
    """One synthesis run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str = Field(default="records", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="name of the data set")
    root: Location = Field(default=Path("data"), description="folder that holds the data sets")
    first: int = Field(default=0, ge=0, description="first record of the run's population")
    records: int = Field(default=100, ge=1, le=100_000_000, strict=True, description="how many records from there on")
    seed: int = Field(default=1, ge=0, lt=2**63, description="another seed is another population")
    shard_size: int = Field(default=512, ge=1, le=100_000, description="records a shard")
    nodes: int = Field(default=1, ge=1, description="nodes that the Ray cluster must have before work starts")
    workers: Annotated[int, Field(ge=1)] | Literal["cluster"] = Field(
        default=1, description='shard workers, each with a CPU of the Ray cluster; "cluster" takes all that are free'
    )
    shards_each: int = Field(default=1, ge=1, description="shards that one worker has in hand at once")
    in_flight: int = Field(default=4, ge=1, description="records of one shard worked on at once")
    budget_usd: float | None = Field(
        default=None,
        gt=0,
        description="nothing new is begun when the data set's stage has cost so much; raise it to go on",
    )
    on_model_failure: Literal["stop", "hand_over"] = Field(
        default="stop",
        description="when a model fails for good (key revoked, model gone): stop, or let the others do its records",
    )
    synthesis: SynthesisConfig = SynthesisConfig()
    sanitization: SanitizationConfig = SanitizationConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    splits: SplitConfig = SplitConfig()
    models: tuple[MixedEngine, ...] = Field(default=DEFAULT_MIX, min_length=1)
    embedder: Annotated[MiniLM | OpenAIEmbedding | SimulatedEmbedding, Field(discriminator="kind")] = MiniLM()

    @model_validator(mode="after")
    def _simulated_embeddings_have_a_simulator(self) -> Self:
        has_simulator = any(isinstance(each.engine, Simulated) for each in self.models)
        if isinstance(self.embedder, SimulatedEmbedding) and not has_simulator:
            raise ValueError("embedder 'simulator' needs a model of kind 'simulator' in the mix")
        return self

    @property
    def wanted(self) -> ShardRange:
        """The rows asked for."""
        return ShardRange(self.first, self.first + self.records)


def load_run(path: Path | None, overrides: Mapping[str, Any]) -> RunConfig:
    """Read a run file and lay ``overrides`` (dotted names) over it.

    Raises:
        ConfigError: the file cannot be read, or a value is wrong; the message says where and why.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise ConfigError(f"{path}: no such run file: `privasis init {path}` writes one") from error
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{path}: {error}") from error
    for name, value in overrides.items():
        *parents, last = name.split(".")
        place = values
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{path}: {parent} must be a table, to hold {name}")
        place[last] = value
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        faults = list(_faults(error))
        source = "flags" if path is None else f"{path} with flags" if overrides else str(path)
        raise ConfigError(f"{source}: " + "; ".join(faults)) from error


def _faults(error: ValidationError) -> Iterator[str]:
    """Say what is wrong where; not that a list is too short because an item of it is wrong."""
    errors = error.errors(include_url=False)
    for each in errors:
        place = each["loc"]
        inner = any(other["loc"][: len(place)] == place and other["loc"] != place for other in errors)
        if not (each["type"] == "too_short" and inner):
            yield f"{'.'.join(map(str, place))}: {each['msg']}"
