"""The reference model of a run: which one, how it reads, and opening it where the work is done."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from pydantic import BaseModel, ConfigDict, Field

from infra.engines.cores import usable_cores
from infra.packages import PackageMissing
from tasks.surprise.documents import Chat
from tasks.surprise.policy import Reference
from tasks.surprise.scoring.scorer import Scorer
from tasks.surprise.shard import Rendered

PACKAGES = ("torch", "transformers", "safetensors", "gguf")  # the extra ``surprise``
VERSIONS = ("torch", "transformers", "tokenizers")


class ModelChanged(Exception):
    """The model on this machine is not the one that the run was planned with."""


class ModelUnfit(ValueError):
    """The reference model cannot be used so: its architecture, or the context or stride that were asked for."""


class ReferenceModel(BaseModel):
    """Which model scores, and how it reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="an embedded model, a folder, a hub name, or the URL of a vLLM server")
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

    def reference(self) -> Reference:
        """Return the model's and the tokenizer's identity, without loading any weights."""
        raise NotImplementedError

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
    """

    scorer: Scorer
    render: Callable[[Chat], Rendered]
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


def model_versions() -> dict[str, str]:
    """Return the versions of the packages that scores are computed with, of those that are here."""
    found = {}
    for package in VERSIONS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@asynccontextmanager
async def opened(model: ReferenceModel) -> AsyncIterator[Opened]:
    """Open a model; all shards of a worker use it.

    Raises:
        ModelMissing: it cannot be found.
    """
    yield await asyncio.to_thread(_open, model)


def _open(model: ReferenceModel) -> Opened:
    raise NotImplementedError
