"""The reference model of a run: which one, how it reads, and opening it where the work is done.

PyTorch and transformers are imported inside functions: whoever has not installed them can still plan and read.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from infra.engines.cores import usable_cores
from infra.engines.models import ModelMissing
from infra.llm.connect import Endpoint, api_key
from infra.llm.prices import FREE
from infra.llm.served_model import ServedModel, served_model
from infra.packages import PackageMissing
from tasks.surprise.documents import Chat
from tasks.surprise.policy import Reference
from tasks.surprise.scoring.scorer import Scorer
from tasks.surprise.shard import Rendered

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from tasks.surprise.scoring.remote import RemoteScorer
    from tasks.surprise.scoring.tokenizer import TextTokenizer

PACKAGES = ("torch", "transformers", "safetensors", "gguf")  # the extra ``surprise``
VERSIONS = ("torch", "transformers", "tokenizers")
KEY = "OPENAI_API_KEY"
SERVED_CONTEXT = 4096  # where nobody says and the server takes more


class ModelChanged(Exception):
    """The model on this machine is not the one that the run was planned with."""


class ModelUnfit(ValueError):
    """The reference model cannot be used so: its architecture, or the context or stride that were asked for."""


class ReferenceModel(BaseModel):
    """Which model scores, and how it reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="an embedded model, a folder, a hub name, or the URL of a vLLM server")
    tokenizer: str | None = Field(
        default=None, min_length=1, description="of a served model: folder or hub name; none tries what the server says"
    )
    context: int | None = Field(default=None, ge=2, description="most tokens read at once")
    stride: int | None = Field(default=None, ge=1, description="tokens that a further window of a long text scores")
    threads: int | None = Field(default=None, ge=1, description="of one worker; none means every core")

    @property
    def is_served(self) -> bool:
        """Tell whether a server has the model."""
        return self.name.startswith(("http://", "https://"))

    def shared_by(self, workers: int) -> "ReferenceModel":
        """Split the machine's cores between workers that load it each."""
        return self.model_copy(update={"threads": max(1, usable_cores() // workers)})

    def reads(self) -> dict[str, int | None]:
        """Return what of these settings shapes scores: the machine's threads do not."""
        return {"context": self.context, "stride": self.stride}

    def check_installed(self) -> None:
        """Make sure that the packages are there that reference models need.

        Raises:
            PackageMissing: they are not.
        """
        for package in PACKAGES:
            if find_spec(package) is None:
                raise PackageMissing(f"package {package} is not installed: run `make setup-surprise`")


@dataclass(frozen=True)
class Opened:
    """A reference model, ready to score.

    Attributes:
        scorer: for one caller at a time, who holds ``lock``; ``tokenize`` needs none.
        render: renders a chat by the model's template.
        precision: of the computation. Scores in another one are not the same.
    """

    scorer: Scorer
    render: Callable[[Chat], Rendered]
    precision: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def check(self, planned: Reference) -> None:
        """Make sure that this is the model that the run was planned with.

        Raises:
            ModelChanged: it is another.
        """
        if self.scorer.reference != planned:
            raise ModelChanged(
                f"the run was planned with {planned}, this worker has {self.scorer.reference}: put the same model and"
                " tokenizer on every node, and run it again"
            )

    def reading(self) -> dict[str, Any]:
        """Say how it reads: ids put before each text and window, tokens at once, tokens a further window scores."""
        return {
            "prefix": list(self.scorer.prefix),
            "context": self.scorer.context,
            "stride": self.scorer.stride,
            "precision": self.precision,
        }


def model_versions() -> dict[str, str]:
    """Return the versions of the packages that scores are computed with, of those that are here."""
    found = {}
    for package in VERSIONS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def identify(model: ReferenceModel, *, chats: bool) -> Reference:
    """Return what scores of a model are scores of, without loading its weights.

    Args:
        model: the model.
        chats: it has to render chats.

    Raises:
        ModelMissing: it, or its tokenizer, cannot be found.
        ModelUnfit: it has no chat template and is to render chats.
        BackendUnavailable: the server does not answer.
    """
    from infra.engines.causal_lm import CausalLmConfig, identify, load_tokenizer

    if model.is_served:
        served = _ask(model)
        name, tokenizer = _served_name(served), _served_tokenizer(model, served)
    else:
        name, tokenizer = identify(CausalLmConfig(model=model.name)), load_tokenizer(model.name)
    if chats:
        _renderer(tokenizer)
    return Reference(model=name, tokenizer_sha256=_text_tokenizer(tokenizer).sha256)


@asynccontextmanager
async def opened(model: ReferenceModel) -> AsyncIterator[Opened]:
    """Open a model; all shards of a worker use it.

    Raises:
        ModelMissing: it cannot be found.
        ModelUnfit: it cannot score, or not with such a context or stride.
        BackendUnavailable: the server does not answer.
    """
    if not model.is_served:
        yield await asyncio.to_thread(_open_here, model)
        return
    scorer, tokenizer = await asyncio.to_thread(_connect, model)
    await asyncio.to_thread(scorer.__enter__)
    try:
        yield Opened(scorer, _rendering(tokenizer), "served")
    finally:
        await asyncio.to_thread(scorer.__exit__, None, None, None)


def _open_here(model: ReferenceModel) -> Opened:
    from infra.engines.causal_lm import CausalLmConfig, load
    from tasks.surprise.scoring.causal import CausalScorer, ScoringConfig
    from tasks.surprise.scoring.forward import UnsupportedModel

    loaded = load(CausalLmConfig(model=model.name, threads=model.threads))
    reading = ScoringConfig(context=model.context, stride=model.stride)
    try:
        scorer = CausalScorer(loaded.model, _text_tokenizer(loaded.tokenizer), loaded.name, reading)
    except (UnsupportedModel, ValueError) as error:
        raise ModelUnfit(f"{model.name}: {error}") from error
    return Opened(scorer, _rendering(loaded.tokenizer), str(loaded.model.dtype).removeprefix("torch."))


def _connect(model: ReferenceModel) -> "tuple[RemoteScorer, PreTrainedTokenizerBase]":
    from infra.llm.prompt_logprobs import PromptLogprobs
    from tasks.surprise.scoring.remote import RemoteScorer

    served = _ask(model)
    tokenizer = _served_tokenizer(model, served)
    most = (served.max_tokens or SERVED_CONTEXT + 1) - 1  # the server insists on writing one
    context = model.context or min(most, SERVED_CONTEXT)
    if context > most:
        raise ModelUnfit(f"{model.name}: a context of {context} tokens, the server takes {most}: lower --context")
    logprobs = PromptLogprobs(_endpoint(model, served), api_key(_endpoint(model, served)))
    try:
        scorer = RemoteScorer(
            logprobs,
            _text_tokenizer(tokenizer),
            _served_name(served),
            context=context,
            stride=model.stride or context // 2,
        )
    except ValueError as error:
        raise ModelUnfit(f"{model.name}: {error}") from error
    return scorer, tokenizer


def _ask(model: ReferenceModel) -> ServedModel:
    return served_model(model.name, os.environ.get(KEY, "none"))


def _endpoint(model: ReferenceModel, served: ServedModel) -> Endpoint:
    return Endpoint(model=served.id, base_url=model.name, api_key_env=KEY if os.environ.get(KEY) else None, price=FREE)


def _served_name(served: ServedModel) -> str:
    return f"{served.root}@vllm"  # its revision and precision are the server's business: it tells neither


def _served_tokenizer(model: ReferenceModel, served: ServedModel) -> "PreTrainedTokenizerBase":
    from infra.engines.causal_lm import load_tokenizer

    try:
        return load_tokenizer(model.tokenizer or served.root)
    except ModelMissing as error:
        raise ModelMissing(
            f"{error}; name the tokenizer of the served model with --tokenizer, a folder or a name on the hub"
        ) from error


def _text_tokenizer(tokenizer: "PreTrainedTokenizerBase") -> "TextTokenizer":
    from tasks.surprise.scoring.tokenizer import TextTokenizer

    return TextTokenizer(tokenizer.backend_tokenizer, tokenizer.bos_token_id)


def _renderer(tokenizer: "PreTrainedTokenizerBase") -> Callable[[Chat], Rendered]:
    from tasks.surprise.scoring.render import ChatRenderer, NoChatTemplate

    try:
        return ChatRenderer.of(tokenizer).render
    except NoChatTemplate as error:
        raise ModelUnfit(str(error)) from error


def _rendering(tokenizer: "PreTrainedTokenizerBase") -> Callable[[Chat], Rendered]:
    """Render chats, and need a template only once there is one."""

    def render(chat: Chat) -> Rendered:
        return _renderer(tokenizer)(chat)

    return render
