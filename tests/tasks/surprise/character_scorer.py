"""A reference model that can be computed by hand: each character is a token, unlikely after a different one."""

from collections.abc import Iterator, Sequence

import numpy as np

from tasks.surprise.policy import Reference
from tasks.surprise.scoring.scorer import Pass, Scored, Text, Tokenized

REFERENCE = Reference(model="characters", tokenizer_sha256="c" * 64)


class CharacterScorer:
    """NLL of a character: its distance from the one before plus the length of the prompt; without a prompt the first
    has none.

    Attributes:
        read: every text in the order in which it was scored, with the passes.
    """

    reference = REFERENCE
    prefix: tuple[int, ...] = ()
    context = 64
    stride = 32

    def __init__(self) -> None:
        self.read: list[tuple[str, tuple[str, ...]]] = []

    def tokenize(self, texts: Sequence[Text]) -> list[Tokenized]:
        return [_tokenized(text.text) for text in texts]

    def score(self, texts: Sequence[Text], passes: Sequence[Pass]) -> Iterator[Scored]:
        for text in texts:
            self.read.append((text.text, tuple(asked.name for asked in passes)))
            tokens = _tokenized(text.text)
            yield Scored(
                tokens.ids,
                tokens.starts,
                tokens.ends,
                tokens.covered,
                nll={asked.name: nll(text.text, asked.prompt) for asked in passes},
            )


def nll(text: str, prompt: str | None = None) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    ids = np.array([ord(character) for character in text], dtype=np.float32)
    found = np.abs(np.diff(ids, prepend=np.nan if prompt is None else 0)) + len(prompt or "")
    return found.astype(np.float32)


def _tokenized(text: str) -> Tokenized:
    places = np.arange(len(text), dtype=np.int32)
    return Tokenized(np.array([ord(each) for each in text], dtype=np.int32), places, places + 1, len(text))
