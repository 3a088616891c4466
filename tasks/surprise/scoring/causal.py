"""Scores by a transformers causal language model on this machine."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field
from transformers import PreTrainedModel

from tasks.surprise.policy import Reference
from tasks.surprise.scoring.buckets import buckets
from tasks.surprise.scoring.forward import Forward
from tasks.surprise.scoring.reading import Reading
from tasks.surprise.scoring.readings import Layout, slabs
from tasks.surprise.scoring.scorer import Pass, Scored, Text, Tokenized
from tasks.surprise.scoring.sliding import check
from tasks.surprise.scoring.tokenizer import TextTokenizer, check_unicode

_CONTEXT = 4096  # where nobody says and the model takes more
_BUDGET = {"cpu": 1024, "cuda": 16384}  # tokens a batch
# Batches between results. On GPUs enough readings to find company of like length; on CPUs, where little is lost without
# it, few enough that a run shows within a minute that it goes on.
_SLAB_BATCHES = {"cpu": 8, "cuda": 64}
_CHARACTERS_A_TOKEN = 3


class ScoringConfig(BaseModel):
    """How a model on this machine reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    context: int | None = Field(
        default=None, ge=2, description="most tokens read at once; none means 4096, or the model's limit if lower"
    )
    stride: int | None = Field(
        default=None, ge=1, description="tokens a window of a longer text scores; none means half the context"
    )
    batch_tokens: int | None = Field(
        default=None, ge=1, description="tokens a batch; none means 1024 on CPUs and 16384 on GPUs"
    )


class CausalScorer:
    """A transformers model as a ``Scorer``. It takes the model over (see ``Forward``).

    Args:
        model: a causal language model in evaluation mode.
        tokenizer: its tokenizer.
        name: with hash or revision, for ``reference``.
        config: context, stride and batch size.

    Raises:
        UnsupportedModel: see ``Forward``.
        ValueError: the context is beyond the model's positions, or the stride does not fit the context.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: TextTokenizer, name: str, config: ScoringConfig) -> None:
        limit = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self._context = config.context or min(_CONTEXT, limit or _CONTEXT)
        if limit is not None and self._context > limit:
            raise ValueError(f"a context of {self._context} tokens: {name} takes {limit} at most: lower the context")
        self._stride = config.stride or self._context // 2
        check(self._context, self._stride)
        self._budget = config.batch_tokens or _BUDGET.get(model.device.type, _BUDGET["cpu"])
        self._slab = self._budget * _SLAB_BATCHES.get(model.device.type, _SLAB_BATCHES["cpu"]) * _CHARACTERS_A_TOKEN
        self._tokenizer = tokenizer
        self._reference = Reference(model=name, tokenizer_sha256=tokenizer.sha256)
        self._forward = Forward(model)

    @property
    def reference(self) -> Reference:
        """Model and tokenizer."""
        return self._reference

    @property
    def prefix(self) -> tuple[int, ...]:
        """BOS, or nothing."""
        return self._tokenizer.prefix

    @property
    def context(self) -> int:
        """Most tokens read at once."""
        return self._context

    @property
    def stride(self) -> int:
        """Tokens a further window scores."""
        return self._stride

    def tokenize(self, texts: Sequence[Text]) -> list[Tokenized]:
        """See ``Scorer``."""
        return self._tokenizer.tokenize(texts)

    def score(self, texts: Sequence[Text], passes: Sequence[Pass]) -> Iterator[Scored]:
        """See ``Scorer``."""
        check_unicode(texts)
        layout = Layout(self._tokenizer, passes, self._context, self._stride)
        return (scored for slab in slabs(texts, self._slab) for scored in self._score(layout, slab))

    def _score(self, layout: Layout, texts: Sequence[Text]) -> list[Scored]:
        sheet = layout.sheet(texts)
        lengths = [reading.inputs.size for reading in sheet.readings]
        for places in buckets(lengths, self._budget, padded=not self._forward.packed):
            self._read([sheet.readings[place] for place in places])
        return sheet.texts

    def _read(self, batch: Sequence[Reading]) -> None:
        for reading, nll in zip(batch, self._forward.nll(batch), strict=True):
            reading.nll[:] = nll
