"""Small real tokenizers, with the habits that large ones have, and their tokens as this package holds them."""

from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from tasks.surprise.rows import offsets_of
from tasks.surprise.tokens import Tokens

_BYTES = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}


def bytes_tokenizer(
    *,
    normalizer: normalizers.Normalizer | None = None,
    prefix_space: bool = False,
    trim: bool = False,
    merges: Sequence[tuple[str, str]] = (),
) -> Tokenizer:
    """One token a byte, but for ``merges``; the byte-level letters are Ġ for a space, Ċ for LF, č for CR."""
    vocabulary = _BYTES | {left + right: len(_BYTES) + i for i, (left, right) in enumerate(merges)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, use_regex=False)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if trim:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def tokens_of(tokenizer: Tokenizer, texts: Sequence[str], most: int | None = None) -> Tokens:
    """Tokenize and repair; ``most`` cuts each text at so many tokens, as a context limit does."""
    rows = [list(zip(code.ids, code.offsets, strict=True))[:most] for code in tokenizer.encode_batch(list(texts))]
    flat = [item for row in rows for item in row]
    spans = np.array([span for _, span in flat], dtype=np.int64).reshape(-1, 2)
    whole = [len(text) if most is None else row[-1][1][1] for text, row in zip(texts, rows, strict=True)]
    ids = np.array([number for number, _ in flat], dtype=np.int64)
    return Tokens.from_offsets(ids, spans[:, 0], spans[:, 1], offsets_of(list(map(len, rows))), np.array(whole))
