"""A causal language model in this process: the folder that ``privasis train cleaner`` writes, no server around it."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import torch
from jinja2 import TemplateError
from transformers import StoppingCriteria

from infra.engines.causal_lm import CausalLm, CausalLmConfig, load
from infra.engines.models import ModelMissing
from infra.llm.reasoning import split_text
from infra.llm.types import FinishReason, Reply, Request, RequestRejected, Sampling, Usage


class TransformersBackend:
    """Answers one request at a time, in a thread; greedy at temperature 0, else drawn from the request's seed.

    A call that is cancelled stops writing at the next token.
    """

    def __init__(self, config: CausalLmConfig) -> None:
        """Prepare; the model is loaded by ``async with``, which raises ``ModelMissing`` where that cannot be."""
        self._config = config
        self._loaded: CausalLm | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="generate")

    @property
    def model(self) -> str:
        """The model's name, with the hash of its weights once it is loaded."""
        return self._loaded.name if self._loaded else self._config.model

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``.

        Raises:
            RequestRejected: it asks for JSON, writes out special tokens of the model, which would end its own turn, has
                no room for an answer in the model's window, or the chat template refuses it.
        """
        abandoned = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._complete, self._model(), request, abandoned)
        finally:
            abandoned.set()

    def _model(self) -> CausalLm:
        if self._loaded is None:
            raise RuntimeError(f"{self._config.model}: use the backend within `async with`")
        return self._loaded

    def _complete(self, lm: CausalLm, request: Request, abandoned: threading.Event) -> Reply:
        began = time.monotonic()
        ids = self._prompt(lm, request)
        room = context_tokens(lm) - ids.shape[1]
        if room < 1:
            raise RequestRejected(f"{lm.name}: a prompt of {ids.shape[1]} tokens, the window has {context_tokens(lm)}")
        most = min(request.sampling.max_tokens, room)
        written = self._generate(lm, ids, request.sampling, most, abandoned)
        ends = _ends(lm)
        finish: FinishReason = "stop" if written and written[-1] in ends else "length"
        answer = written[:-1] if finish == "stop" else written
        text, reasoning = split_text(str(lm.tokenizer.decode(answer, skip_special_tokens=False)))
        usage = Usage(prompt=ids.shape[1], completion=len(written))
        return Reply(text, finish, usage, lm.name, reasoning, time.monotonic() - began)

    def _prompt(self, lm: CausalLm, request: Request) -> torch.Tensor:
        if request.schema is not None:
            raise RequestRejected(f"{lm.name}: transformers writes free text only: use another engine for JSON")
        special = [token.content for token in lm.tokenizer.added_tokens_decoder.values() if token.special]
        if any(token in message.content for message in request.messages for token in special):
            raise RequestRejected(f"{lm.name}: a message writes out a special token of the model")
        turns = [{"role": message.role, "content": message.content} for message in request.messages]
        try:
            # As in training. Templates that know no thoughts ignore that there are to be none.
            prompt = lm.tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        except (TemplateError, ValueError) as error:  # ValueError: there is no template
            raise RequestRejected(f"{lm.name}: the chat template refuses the request: {error}") from error
        ids: torch.Tensor = lm.tokenizer(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
        return ids.to(lm.model.device)

    @torch.inference_mode()
    def _generate(
        self, lm: CausalLm, ids: torch.Tensor, sampling: Sampling, most: int, abandoned: threading.Event
    ) -> list[int]:
        """Return the tokens after ``ids``, of shape (1, T), the one that ends them included."""
        drawn: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if sampling.temperature > 0:
            torch.manual_seed(sampling.seed)
            drawn = {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        if sampling.repeat_penalty is not None:
            drawn["repetition_penalty"] = sampling.repeat_penalty
        ends = sorted(_ends(lm))
        output: Any = lm.model.generate(  # type: ignore[operator]  # typed as a Tensor or a Module
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=most,
            eos_token_id=ends,
            pad_token_id=ends[0],
            stopping_criteria=[_Abandoned(abandoned)],
            **drawn,
        )
        return [int(token) for token in output[0, ids.shape[1] :]]

    async def __aenter__(self) -> Self:
        loaded = await asyncio.to_thread(load, self._config)
        if not loaded.tokenizer.chat_template:
            raise ModelMissing(
                f"{self._config.model}: its tokenizer has no chat template, so it cannot be asked: take an"
                " instruction-tuned model, or one that `privasis train cleaner` has made"
            )
        self._loaded = loaded
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._loaded = None


class _Abandoned(StoppingCriteria):
    """Stops where nobody waits for the answer any more."""

    def __init__(self, abandoned: threading.Event) -> None:
        self._abandoned = abandoned

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: object) -> torch.Tensor:
        """Return for each sequence, of shape (B,), whether it ends here."""
        return torch.full((input_ids.shape[0],), self._abandoned.is_set(), device=input_ids.device)


def context_tokens(lm: CausalLm) -> int:
    """Return how many tokens the model's window has."""
    return int(getattr(lm.model.config, "max_position_embeddings", 0) or lm.tokenizer.model_max_length)


def _ends(lm: CausalLm) -> set[int]:
    """Return the tokens after which nothing follows, as the model's folder and its tokenizer say."""
    config: Any = lm.model.generation_config
    named = config.eos_token_id if config is not None else None
    known = named if isinstance(named, list) else [named]
    return {int(token) for token in (*known, lm.tokenizer.eos_token_id) if token is not None}
