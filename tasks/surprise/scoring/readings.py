"""What the model reads for a set of texts, and where the scores go."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.surprise.scoring.reading import Reading
from tasks.surprise.scoring.scorer import F32, I32, Pass, PassName, Scored, Text, Tokenized
from tasks.surprise.scoring.sliding import plan
from tasks.surprise.scoring.tokenizer import TextTokenizer


@dataclass(frozen=True, eq=False)
class Sheet:
    """Texts with room for their scores, and the readings that fill it."""

    texts: list[Scored]
    readings: list[Reading]


class Layout:
    """Lays texts out for reading.

    Args:
        tokenizer: of the reference model.
        passes: each text is read once for each.
        context: most tokens that the model reads at once.
        stride: tokens that a further window of a long text scores.

    Raises:
        ValueError: a pass is there twice, or a prompt leaves no room.
    """

    def __init__(self, tokenizer: TextTokenizer, passes: Sequence[Pass], context: int, stride: int) -> None:
        if len({each.name for each in passes}) != len(passes) or not passes:
            raise ValueError(f"passes {[each.name for each in passes]}: give each once, and at least one")
        self._tokenizer = tokenizer
        self._context = context
        self._stride = stride
        self._prompts: Mapping[PassName, I32] = {
            each.name: _ids([] if each.prompt is None else tokenizer.encode_plain(each.prompt)) for each in passes
        }
        for prompt in self._prompts.values():
            plan(0, len(tokenizer.prefix) + prompt.size, context, stride)  # refuses what is too long before any work

    def sheet(self, texts: Sequence[Text]) -> Sheet:
        """Tokenize texts and plan their windows.

        Raises:
            ValueError: a text is not valid Unicode.
        """
        scored: list[Scored] = []
        readings: list[Reading] = []
        for text, tokens in zip(texts, self._tokenizer.tokenize(texts), strict=True):
            prefix = () if self._tokenizer.starts_with_bos(text, tokens) else self._tokenizer.prefix
            nll = {name: np.full(tokens.ids.size, np.nan, dtype=np.float32) for name in self._prompts}
            for name, prompt in self._prompts.items():
                readings += self._windows(tokens, np.concatenate([_ids(prefix), prompt]), nll[name])
            scored.append(Scored(tokens.ids, tokens.starts, tokens.ends, tokens.covered, nll))
        return Sheet(scored, readings)

    def _windows(self, tokens: Tokenized, lead: I32, nll: F32) -> Iterator[Reading]:
        for window in plan(tokens.ids.size, lead.size, self._context, self._stride):
            inputs = np.concatenate([lead, tokens.ids[window.first : window.stop - 1]])
            part = slice(window.scored, window.stop)
            yield Reading(inputs, tokens.ids[part], nll[part])


def slabs(texts: Sequence[Text], characters: int) -> Iterator[Sequence[Text]]:
    """Divide texts into runs of at least ``characters`` each, the last of what is left."""
    begin = held = 0
    for place, text in enumerate(texts):
        held += len(text.text)
        if held >= characters:
            yield texts[begin : place + 1]
            begin, held = place + 1, 0
    if begin < len(texts):
        yield texts[begin:]


def _ids(ids: Sequence[int]) -> I32:
    return np.array(ids, dtype=np.int32)
