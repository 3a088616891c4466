"""Token classifiers through transformers, above all the OpenAI Privacy Filter: log-probabilities of every token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from infra.engines.models import ModelMissing

OPENAI_PRIVACY_FILTER = "openai/privacy-filter"  # Apache-2.0, 1.5 billion parameters, 33 labels


@dataclass(frozen=True, eq=False)
class Classified:
    """The tokens of one text, without special tokens."""

    log_probs: npt.NDArray[np.float32]  # (T, L) log-softmax in float32
    start: npt.NDArray[np.int64]  # (T,) code points, as the tokenizer reports them
    end: npt.NDArray[np.int64]  # (T,)


@dataclass(frozen=True)
class _Window:
    """Tokens [begin, end) of a text, of which [first, last) are taken from it."""

    row: int
    begin: int
    end: int
    first: int
    last: int


class PrivacyFilter:
    """A classifier on one device.

    A text longer than ``window`` tokens is read in windows that overlap by ``margin`` on each side, and each token is
    taken from the window in whose middle it stands. The filter's attention reaches ``sliding_window`` tokens to each
    side in each of its layers, so with the margin of their product (its default) the windows change no result.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        window: int = 4096,
        margin: int | None = None,
        batch_tokens: int = 8192,
    ) -> None:
        """Hold a model.

        Args:
            model: with a token classification head.
            tokenizer: its fast tokenizer, which knows offsets.
            window: longest input, in tokens.
            margin: tokens read on each side of those that count; None for as far as the model's attention reaches.
            batch_tokens: padded tokens of a batch, at least one window's.

        Raises:
            ValueError: the margins leave nothing of a window, or the model's attention has no reach to take them from.
        """
        self._model: PreTrainedModel = model.train(False)
        self._tokenizer = tokenizer
        self._window = window
        self._margin = _reach(model) if margin is None else margin
        self._batch_tokens = max(batch_tokens, window)
        if self._margin < 0 or window <= 2 * self._margin:
            raise ValueError(f"windows of {window} tokens with margins of {self._margin}: nothing is left between them")
        labels = {int(number): str(label) for number, label in (model.config.id2label or {}).items()}
        self.labels = tuple(labels[number] for number in range(len(labels)))

    @classmethod
    def load(cls, name: str = OPENAI_PRIVACY_FILTER, *, window: int = 4096) -> Self:
        """Load a model by hub name or folder, in the precision it was saved in, onto the GPU if there is one.

        Raises:
            ModelMissing: there is none, or it is no token classifier that transformers can load.
        """
        device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            model = AutoModelForTokenClassification.from_pretrained(name, dtype="auto")
            tokenizer = AutoTokenizer.from_pretrained(name)
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise ModelMissing(
                f"{name}: no token classifier that transformers can load ({reason}): give the folder of one, as in"
                " `--method opf:FOLDER`, or a name that is in the hub's cache"
            ) from error
        return cls(model.to(device), tokenizer, window=window)

    def __call__(self, texts: Sequence[str]) -> list[Classified]:
        """Classify the tokens of each text, from its beginning to its end.

        Marks of the tokenizer's own (``<|endoftext|>``) that stand in a text are read as the text they are.
        """
        encoded = [
            self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, split_special_tokens=True)
            for text in texts
        ]
        ids = [encoding["input_ids"] for encoding in encoded]
        answers = [np.empty((len(row), len(self.labels)), dtype=np.float32) for row in ids]
        for batch in self._batches([len(row) for row in ids]):
            log_probs = self._run([ids[window.row][window.begin : window.end] for window in batch])
            for window, scores in zip(batch, log_probs, strict=True):
                taken = scores[window.first - window.begin : window.last - window.begin]
                answers[window.row][window.first : window.last] = taken
        places = [np.array(row["offset_mapping"], dtype=np.int64).reshape(-1, 2) for row in encoded]
        return [Classified(answer, at[:, 0], at[:, 1]) for answer, at in zip(answers, places, strict=True)]

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[_Window]]:
        """Put windows of like length together, the longest first."""
        windows = [window for row, length in enumerate(lengths) for window in self._windows(row, length)]
        windows.sort(key=lambda window: window.begin - window.end)
        begin = 0
        while begin < len(windows):
            width = windows[begin].end - windows[begin].begin
            stop = begin + max(self._batch_tokens // width, 1)
            yield windows[begin:stop]
            begin = stop

    def _windows(self, row: int, length: int) -> Iterator[_Window]:
        if length <= self._window:
            if length:
                yield _Window(row, 0, length, 0, length)
            return
        step = self._window - 2 * self._margin
        for first in range(0, length, step):
            last = min(first + step, length)
            yield _Window(row, max(first - self._margin, 0), min(last + self._margin, length), first, last)

    @torch.inference_mode()
    def _run(self, rows: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float32]]:
        width = max(map(len, rows))
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        read = torch.zeros((len(rows), width), dtype=torch.long)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            read[row, : len(tokens)] = 1
        device = self._model.device
        logits = self._model(input_ids=ids.to(device), attention_mask=read.to(device)).logits
        log_probs = torch.log_softmax(logits.float(), dim=-1).cpu().numpy()
        return [log_probs[row, : len(tokens)] for row, tokens in enumerate(rows)]


def _reach(model: PreTrainedModel) -> int:
    """Tokens to each side that can change a token's answer."""
    layers, band = model.config.num_hidden_layers, getattr(model.config, "sliding_window", None)
    if band is None:
        raise ValueError(
            f"{type(model).__name__} attends to whole inputs: say how long a margin its windows shall have"
        )
    return int(layers * band)
