"""Opening a model that is to be attacked and measured: in this process, or on a server."""

import os
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from infra.engines.causal_lm import CausalLm, CausalLmConfig, load, load_tokenizer
from infra.engines.models import ModelMissing
from infra.llm.completions import Completions
from infra.llm.connect import Endpoint
from infra.llm.prices import FREE
from infra.llm.served_model import served_model
from infra.llm.transformers_local import context_tokens
from tasks.measuring.answers import SampledAnswers
from tasks.measuring.remote import ServedSampler
from tasks.measuring.sampling import LocalSampler, Sampler
from tasks.measuring.special import end_tokens, start_token

KEY = "OPENAI_API_KEY"
SERVED_WINDOW = 4096  # where a server does not say


@dataclass(frozen=True, eq=False)
class MeasuredModel:
    """A model to measure.

    Attributes:
        sampler: continues prompts.
        tokenizer: the model's.
        window: tokens that it reads and writes together.
        lm: the model itself; None where a server has it.
    """

    sampler: Sampler
    tokenizer: PreTrainedTokenizerBase
    window: int
    lm: CausalLm | None

    @property
    def name(self) -> str:
        """Its name, with the hash of its weights where they are here."""
        return self.sampler.model

    @property
    def start(self) -> int | None:
        """The token that stands before a text."""
        return start_token(self.tokenizer)

    @property
    def answerer(self) -> SampledAnswers:
        """The model as one that answers tasks."""
        return SampledAnswers(self.sampler, self.tokenizer, self.window)


def open_model(name: str, tokenizer: str | None, device: str | None) -> MeasuredModel:
    """Open a model.

    Args:
        name: a folder with safetensors, a hub name, an embedded model, or the URL of a server.
        tokenizer: of a served model: a folder or a hub name; None tries what the server says.
        device: where a model of this process runs; None means a GPU where there is one.

    Raises:
        ModelMissing: the model or its tokenizer cannot be found.
        BackendUnavailable: the server does not answer.
    """
    if not name.startswith(("http://", "https://")):
        lm = load(CausalLmConfig(model=name, device=device))
        sampler = LocalSampler(lm.model, lm.name, end_tokens(lm.model, lm.tokenizer))
        return MeasuredModel(sampler, lm.tokenizer, context_tokens(lm), lm)
    key = os.environ.get(KEY, "none")
    served = served_model(name, key)
    source = tokenizer or served.root
    try:
        found = load_tokenizer(source)
    except ModelMissing as error:
        raise ModelMissing(f"{error}; --tokenizer names the served model's own: a folder or a hub name") from error
    # The key stays in the environment: an endpoint holds only its variable's name.
    variable = KEY if KEY in os.environ else None
    endpoint = Endpoint(model=served.id, base_url=name, api_key_env=variable, price=FREE)
    remote = ServedSampler(Completions(endpoint, key), found, end_tokens(None, found))
    return MeasuredModel(remote, found, served.max_tokens or SERVED_WINDOW, None)
