"""Masks over the tokens of the model that is to be trained."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.surprise.documents import Document
from tasks.surprise.project import touched
from tasks.surprise.rows import I64, Bool, offsets_of
from tasks.surprise.scoring.scorer import I32, Text
from tasks.surprise.scoring.tokenizer import TextTokenizer
from tasks.surprise.spans import Spans
from tasks.surprise.tokens import Tokens


@dataclass(frozen=True, eq=False)
class TokenMasks:
    """Tokens of R texts with two flags each.

    Attributes:
        ids: shape (N,), without BOS and EOS.
        row_offsets: shape (R + 1,).
        mask: masked, and supervised, shape (N,).
        supervised: may carry loss, masked or not, shape (N,).
    """

    ids: I64
    row_offsets: I64
    mask: Bool
    supervised: Bool


def token_masks(documents: Sequence[Document], selected: Spans, tokenizer: TextTokenizer) -> TokenMasks:
    """Tokenize texts and mask every token that shares a character with a selected span (SM App. D).

    The text of a special token that somebody typed is text. A token across the border of supervision is supervised.

    Args:
        documents: R texts as scored.
        selected: masked characters of the same texts.
        tokenizer: of the model to be trained.

    Raises:
        ValueError: a text is not valid Unicode.
    """
    tokenized = tokenizer.tokenize([Text(document.text) for document in documents])
    offsets = offsets_of([each.ids.size for each in tokenized])
    tokens = Tokens.from_offsets(
        _joined([each.ids for each in tokenized]),
        _joined([each.starts for each in tokenized]),
        _joined([each.ends for each in tokenized]),
        offsets,
        np.array([each.covered for each in tokenized], dtype=np.int64),
    )
    supervised = touched(tokens, _supervised(documents))
    return TokenMasks(tokens.ids, offsets, touched(tokens, selected) & supervised, supervised)


def _supervised(documents: Sequence[Document]) -> Spans:
    return Spans.of(
        [(0, len(document.text))]
        if document.supervised is None
        else [(part.start, part.end) for part in document.supervised]
        for document in documents
    )


def _joined(parts: Sequence[I32]) -> I64:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)
