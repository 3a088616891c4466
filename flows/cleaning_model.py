"""Which model cleans: named on the command line, started where it has to be, and how much it reads at once."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from flows.commands.checks import check_answers
from flows.commands.evaluate.asked import model_named
from flows.commands.flags import RunFlags
from flows.commands.run_of import run_of
from flows.config import ConfigError, Embedded, LiteLLM, MixedEngine, Remote, Simulated, Vllm
from flows.engines import engines
from infra.engines.causal_lm import CausalLmConfig
from infra.engines.models import ModelMissing
from infra.llm.connect import Endpoint, MiniLM, connect
from infra.llm.types import Backend
from tasks.cleaning.batches.document import PART

JOB = "job.json"  # of a training run, see ``tasks.training.job``, which needs torch
_POSITIONS = "max_position_embeddings"
_CONFIG, _TOKENIZERS = "config.json", ("tokenizer.json", "tokenizer.model", "vocab.json")
UNKNOWN_WINDOW = 8192  # tokens; of servers that do not say
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """What was asked for.

    Attributes:
        engine: started or called by the run; or a model that transformers loads into this process.
        base_url: address of a server of the OpenAI protocol, in place of what ``engine`` says.
        context_tokens: what the caller knows of the model's window.
    """

    engine: MixedEngine | CausalLmConfig
    base_url: str | None = None
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A model that can be asked.

    Attributes:
        backend: makes a client, to be used as an async context manager.
        context_tokens: prompt and answer of one request.
        in_flight: requests that make sense at once.
        check: raises ``BackendUnavailable`` where the server does not answer; None for one that cannot be asked.
    """

    backend: Callable[[], Backend]
    context_tokens: int
    in_flight: int
    check: Callable[[], None] | None


def model_asked(config: Path | None, spec: str | None, base_url: str | None, context_tokens: int | None) -> ModelAsked:
    """Read ``--config``, ``--model``, ``--base-url`` and ``--context-tokens``.

    A model is a folder with safetensors (or one that ``privasis train cleaner`` made), a GGUF file, ``KIND:NAME``, or a
    name in the run file. Without any, it is the run file's only model, or the embedded one.

    Raises:
        ConfigError: nothing of that name.
    """
    engine = _engine(config, spec)
    if base_url is not None and not (isinstance(engine, MixedEngine) and isinstance(engine.engine, Remote)):
        raise ConfigError("--base-url: only for `--model openai:NAME`, a server that runs already")
    return ModelAsked(engine, base_url, context_tokens)


def _engine(config: Path | None, spec: str | None) -> MixedEngine | CausalLmConfig:
    kind, _, name = (spec or "").partition(":")
    if kind == "transformers" and name:
        return CausalLmConfig(model=str(_weights(Path(name))))
    if kind == "vllm" and name:
        return MixedEngine(engine=Vllm(model=name))
    if spec and (path := Path(spec)).exists():
        if path.is_dir():
            return CausalLmConfig(model=str(_weights(path)))
        if path.suffix == ".gguf":
            return MixedEngine(engine=Embedded(model=spec))
        raise ConfigError(f"--model {spec}: give a folder with safetensors, or a .gguf file")
    if spec and ":" not in spec and len(Path(spec).parts) > 1:
        raise ConfigError(f"--model {spec}: no such folder or file; a model that runs elsewhere is KIND:NAME")
    flags = RunFlags(config=config)
    return model_named(run_of(flags), flags, spec, "--model")


def _weights(folder: Path) -> Path:
    """Return the folder that has the weights: a training run keeps them in ``model``.

    Raises:
        ConfigError: there are none, or no tokenizer beside them.
    """
    if not folder.is_dir():
        raise ConfigError(f"--model {folder}: no such folder")
    inside = folder / "model"
    found = inside if (inside / _CONFIG).is_file() and not (folder / _CONFIG).is_file() else folder
    if (folder / JOB).is_file() and found == folder:
        raise ConfigError(f"--model {folder}: its training is not finished: call `privasis train cleaner` again first")
    if not (found / _CONFIG).is_file():
        raise ConfigError(f"--model {folder}: no {_CONFIG} in it: give the folder that save_pretrained wrote")
    if not any((found / name).is_file() for name in _TOKENIZERS):
        raise ConfigError(
            f"--model {folder}: no tokenizer in it: save it beside the weights (tokenizer.save_pretrained)"
        )
    return found


@contextmanager
def ready(asked: ModelAsked, *, patience: Mapping[str, float] | None = None) -> Iterator[Ready]:
    """Start what the model needs for the length of the block.

    Args:
        asked: which model.
        patience: fields of its ``Endpoint`` that say how long a call is tried, where the default is too long.

    Raises:
        ModelMissing, EngineMissing, EngineFailed, SimulatorFailed: it cannot be started.
        BackendUnavailable: its server does not answer, or its key is not set.
    """
    if isinstance(asked.engine, CausalLmConfig):
        yield _in_process(asked.engine, asked.context_tokens)
        return
    engine = asked.engine
    run = run_of(RunFlags()).model_copy(update={"models": (engine,), "embedder": MiniLM()})  # no vectors are asked for
    with engines(run) as served:
        endpoint = served.models[0].endpoint.model_copy(update=patience or {})
        if asked.base_url is not None:
            endpoint = endpoint.model_copy(update=_address(asked.base_url))
        check = None if isinstance(engine.engine, LiteLLM) else lambda: check_answers(endpoint)
        if isinstance(engine.engine, Remote):
            check_answers(endpoint)
        _say_where(engine, endpoint)
        window = asked.context_tokens or _window(engine)
        yield Ready(lambda: connect(endpoint), window, _at_once(endpoint), check)


def _at_once(endpoint: Endpoint) -> int:
    """Return how many texts keep all servers of the model busy; no more are in hand than a part of a batch has."""
    return min(PART, endpoint.max_in_flight * (1 + len(endpoint.replicas)))


def _address(base_url: str) -> dict[str, object]:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"--base-url {base_url}: give an address such as http://127.0.0.1:8000/v1")
    key = "OPENAI_API_KEY"
    needs_none = parts.hostname in _LOOPBACK and key not in os.environ  # servers on this machine seldom ask for one
    return {"base_url": base_url, "replicas": ()} | ({"api_key_env": None} if needs_none else {})


def _window(engine: MixedEngine) -> int:
    match engine.engine:
        case Embedded() | Vllm() as known:
            return known.context_tokens
        case _:
            return UNKNOWN_WINDOW


def _say_where(engine: MixedEngine, endpoint: Endpoint) -> None:
    """Warn where texts leave this machine: they are private, or nobody would clean them."""
    if isinstance(engine.engine, Simulated):
        sys.stderr.write("The simulator is no model: it writes any text, and cleans none.\n")
        return
    host = urlsplit(endpoint.base_url or "").hostname
    if isinstance(engine.engine, Remote | LiteLLM) and host not in _LOOPBACK:
        sys.stderr.write(f"The texts are sent to {host or 'the provider'} ({endpoint.model}).\n")


def _in_process(config: CausalLmConfig, context_tokens: int | None) -> Ready:
    try:
        from infra.llm.transformers_local import TransformersBackend
    except ModuleNotFoundError as error:
        raise ModelMissing(
            f"{config.model}: to load it needs torch and transformers (`make setup-train`); or serve it with vLLM"
        ) from error
    window = context_tokens or _configured_window(Path(config.model))
    return Ready(lambda: TransformersBackend(config), window, in_flight=1, check=None)


def _configured_window(folder: Path) -> int:
    """Read how many positions a model has, without loading it."""
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:  # a name on the hub, or an embedded model
        return UNKNOWN_WINDOW
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or nested beyond measure
        raise ModelMissing(f"{folder}: {_CONFIG} is not JSON: give the folder that save_pretrained wrote") from error
    known = config.get(_POSITIONS) if isinstance(config, dict) else None
    return known if isinstance(known, int) else UNKNOWN_WINDOW
