"""A scorer that remembers: what a journal holds is not scored again.

There is one event for each different text and pass, written as soon as the batch it was scored in is done. Killed at
any point, a shard has lost at most that batch; and since a text's scores depend on nothing it was scored with, they are
found again however rows are dealt out to shards and batches, whatever else of a row has changed (id, labels, strata),
and when a pass is added. An event holds the NLLs only, 4 bytes a token: ids and offsets come from the tokenizer again,
which costs little.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Protocol

import numpy as np

from tasks.events import event_key
from tasks.surprise.scoring.scorer import F32, Pass, Scored, Scorer, Text

_NLL = np.dtype("<f4")


class ScoreLog(Protocol):
    """What is needed of a journal."""

    def get(self, key: str) -> bytes | None:
        """Return the event stored under ``key``, or None."""
        ...

    def append(self, key: str, body: bytes) -> None:
        """Store an event."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts to be scored at once, under those passes that none of them has."""

    texts: tuple[Text, ...]
    passes: tuple[Pass, ...]


@dataclass(frozen=True)
class Memory:
    """Scores of one scorer under some passes, in a log.

    Attributes:
        scorer: the reference model.
        passes: as of ``Scorer.score``.
        log: what was scored before; what is scored now goes there.
        precision: of the scorer's computation.
    """

    scorer: Scorer
    passes: tuple[Pass, ...]
    log: ScoreLog
    precision: str

    def batches(self, texts: Sequence[Text], most: int) -> Iterator[Batch]:
        """Cut what is not in the log into batches of at most ``most`` characters; a longer text is alone in one.

        Args:
            texts: all different.
            most: characters.
        """
        missing: dict[tuple[Pass, ...], list[Text]] = {}
        for text in texts:
            passes = tuple(asked for asked in self.passes if self.log.get(self._key(text, asked)) is None)
            missing.setdefault(passes, []).append(text)
        for passes, without in missing.items():
            if passes:
                yield from (Batch(tuple(run), passes) for run in _runs(without, most))

    def score(self, batch: Batch, done: Callable[[Text, Scored], None]) -> list[Scored]:
        """Score a batch and say of each text when it is done; nothing is remembered yet. It may run in a thread."""
        found = []
        for text, scored in zip(batch.texts, self.scorer.score(batch.texts, batch.passes), strict=True):
            done(text, scored)
            found.append(scored)
        return found

    def remember(self, batch: Batch, scored: Sequence[Scored]) -> None:
        """Write the scores of a batch to the log."""
        for text, each in zip(batch.texts, scored, strict=True):
            for asked in batch.passes:
                self.log.append(self._key(text, asked), each.nll[asked.name].astype(_NLL).tobytes())

    def recall(self, texts: Sequence[Text]) -> list[Scored]:
        """Return scores that the log holds, without the model.

        Raises:
            ValueError: the log does not hold one, or one does not fit the tokens of its text.
        """
        return [
            Scored(
                tokens.ids,
                tokens.starts,
                tokens.ends,
                tokens.covered,
                nll={asked.name: self._nll(text, asked, tokens.ids.size) for asked in self.passes},
            )
            for text, tokens in zip(texts, self.scorer.tokenize(texts), strict=True)
        ]

    def _nll(self, text: Text, asked: Pass, tokens: int) -> F32:
        body = self.log.get(self._key(text, asked))
        values = None if body is None else np.frombuffer(body, _NLL)
        if values is None or values.size != tokens:
            found = "no" if values is None else values.size
            raise ValueError(
                f"{found} {asked.name} scores in the journal for a text of {tokens} tokens: the tokenizer is not the"
                " one they were made with: move the journal away and score anew"
            )
        return values

    def _key(self, text: Text, asked: Pass) -> str:
        markup = [(each.start, each.end) for each in text.markup]
        return event_key(sha256(text.text.encode()).hexdigest(), "nll", markup, asked.prompt, self._reads)

    @cached_property
    def _reads(self) -> list[object]:
        """All that makes the scorer's scores what they are, but the text and the prompt."""
        scorer = self.scorer
        model = scorer.reference
        windows = [list(scorer.prefix), scorer.context, scorer.stride]
        return [model.model, model.tokenizer_sha256, self.precision, windows]


def _runs(texts: Sequence[Text], most: int) -> Iterator[list[Text]]:
    run: list[Text] = []
    held = 0
    for text in texts:
        if run and held + len(text.text) > most:
            yield run
            run, held = [], 0
        run.append(text)
        held += len(text.text)
    if run:
        yield run
