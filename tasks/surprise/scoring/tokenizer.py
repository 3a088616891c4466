"""Tokenizes texts for scoring: no BOS, nothing cut, and special tokens only where a template wrote them."""

import hashlib
import re
from collections.abc import Iterable, Sequence

import numpy as np
from tokenizers import Tokenizer

from tasks.surprise.documents import Interval
from tasks.surprise.scoring.scorer import Text, Tokenized


class TextTokenizer:
    """A fast tokenizer without its habits: truncation, padding, added BOS, and special tokens in what people typed.

    Args:
        backend: of the ``tokenizers`` package; it is copied.
        bos_id: what stands before a text, or None for nothing.
    """

    def __init__(self, backend: Tokenizer, bos_id: int | None) -> None:
        self.bos_id = bos_id
        self._of_templates = _bare(backend.to_str())
        serialized = self._of_templates.to_str()
        self.sha256 = hashlib.sha256(serialized.encode()).hexdigest()  # the same wherever the tokenizer was loaded from
        self._of_people = _bare(serialized)
        self._of_people.encode_special_tokens = True  # not part of the serialization
        added = backend.get_added_tokens_decoder()
        self._special = {token.content: id_ for id_, token in added.items() if token.special}
        longest_first = sorted(self._special, key=len, reverse=True)
        self._special_text = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    @property
    def prefix(self) -> tuple[int, ...]:
        """Token ids before every text."""
        return () if self.bos_id is None else (self.bos_id,)

    def encode_plain(self, text: str) -> list[int]:
        """Token ids of a text in which no special token counts, such as a prompt.

        Raises:
            ValueError: it is not valid Unicode.
        """
        ids: list[int] = self.tokenize([Text(text)])[0].ids.tolist()
        return ids

    def tokenize(self, texts: Sequence[Text]) -> list[Tokenized]:
        """Tokenize each text.

        Raises:
            ValueError: a text holds a lone surrogate; its place in ``texts`` is named.
        """
        check_unicode(texts)
        plain = iter(self._batch(self._of_people, [text.text for text in texts if not text.markup]))
        return [self._marked(text) if text.markup else next(plain) for text in texts]

    def starts_with_bos(self, text: Text, tokens: Tokenized) -> bool:
        """Say whether a template wrote BOS itself, so that it needs no second one."""
        return bool(text.markup) and self.bos_id is not None and tokens.ids[:1].tolist() == [self.bos_id]

    def _marked(self, text: Text) -> Tokenized:
        """Tokenize what a template rendered; as its tokenizer does, unless a message holds a special token's text."""
        whole = self._batch(self._of_templates, [text.text])[0]
        special = np.flatnonzero(np.isin(whole.ids, list(self._special.values())))
        spans = zip(whole.starts[special].tolist(), whole.ends[special].tolist(), strict=True)
        return whole if all(_within(span, text.markup) for span in spans) else self._around_markup(text)

    def _around_markup(self, text: Text) -> Tokenized:
        """Tokenize the pieces between the special tokens that the template wrote, as text."""
        matches = [
            match for part in text.markup for match in self._special_text.finditer(text.text, part.start, part.end)
        ]
        bounds = [0, *(bound for match in matches for bound in match.span()), len(text.text)]
        pieces = [(bounds[i], text.text[bounds[i] : bounds[i + 1]]) for i in range(0, len(bounds), 2)]
        between = self._batch(self._of_people, [piece for _, piece in pieces])
        parts = [_shifted(tokens, start) for tokens, (start, _) in zip(between, pieces, strict=True)]
        marks = [_single(self._special[match[0]], *match.span()) for match in matches]
        ordered = [part for pair in zip(parts, marks, strict=False) for part in pair] + parts[-1:]
        return _joined(ordered, len(text.text))

    @staticmethod
    def _batch(tokenizer: Tokenizer, texts: list[str]) -> list[Tokenized]:
        tokenized = []
        for text, encoding in zip(texts, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True):
            offsets = np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2)
            ids = np.array(encoding.ids, dtype=np.int32)
            tokenized.append(Tokenized(ids, offsets[:, 0].copy(), offsets[:, 1].copy(), len(text)))
        return tokenized


def _bare(serialized: str) -> Tokenizer:
    tokenizer = Tokenizer.from_str(serialized)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def check_unicode(texts: Sequence[Text]) -> None:
    """Refuse what no tokenizer takes.

    Raises:
        ValueError: a text holds a lone surrogate; its place in ``texts`` is named.
    """
    for place, text in enumerate(texts):
        try:
            text.text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"text {place}: a lone surrogate at character {error.start}: it is not valid Unicode, so it cannot be"
                " tokenized: leave it out, or repair how it was read"
            ) from None


def _within(span: tuple[int, int], markup: Iterable[Interval]) -> bool:
    return any(part.start <= span[0] and span[1] <= part.end for part in markup)


def _single(id_: int, start: int, end: int) -> Tokenized:
    ids, starts, ends = np.array([[id_], [start], [end]], dtype=np.int32)
    return Tokenized(ids, starts, ends, end)


def _shifted(tokens: Tokenized, by: int) -> Tokenized:
    return Tokenized(tokens.ids, tokens.starts + np.int32(by), tokens.ends + np.int32(by), tokens.covered)


def _joined(parts: Sequence[Tokenized], covered: int) -> Tokenized:
    ids, starts, ends = (np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "starts", "ends"))
    return Tokenized(ids, starts, ends, covered)
