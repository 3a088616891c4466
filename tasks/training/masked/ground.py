"""What masks for training are made on: the tokens of the model that is trained, beside the reference model's scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from transformers import PreTrainedTokenizerBase

from tasks.surprise.baselines.methods import Material
from tasks.surprise.documents import Chat, Document
from tasks.surprise.procedure import Batch
from tasks.surprise.project import touched
from tasks.surprise.rows import I64, Bool, offsets_of, row_numbers
from tasks.surprise.scored import ScoredSet
from tasks.surprise.scoring.render import ChatRenderer
from tasks.surprise.scoring.scorer import Text
from tasks.surprise.scoring.tokenizer import TextTokenizer
from tasks.surprise.spans import Spans
from tasks.surprise.tokens import Tokens


class GroundUnfit(ValueError):
    """The documents cannot be read by the model that is to be trained. The message says which and why."""


@dataclass(frozen=True, eq=False)
class Ground:
    """R documents as the model that is to be trained reads them, N tokens in all.

    Attributes:
        scored: the documents with the reference model's scores.
        documents: the same ones as the trained model reads them: other texts only where it has a chat template of its
            own.
        tokens: of the trained model, without BOS and EOS.
        supervised: may carry loss, shape (N,): all tokens of a text, of a chat the assistant's and the special token
            that ends its turn.
        tokenizer_sha256: of the trained model's tokenizer.
    """

    scored: ScoredSet
    documents: Sequence[Document]
    tokens: Tokens
    supervised: Bool
    tokenizer_sha256: str

    @classmethod
    def of(cls, scored: ScoredSet, tokenizer: PreTrainedTokenizerBase, chats: Mapping[str, Chat] | None = None) -> Self:
        """Tokenize scored documents for the model that is to be trained.

        Args:
            scored: R documents.
            tokenizer: a fast one.
            chats: the conversations that were scored, by id: these are rendered anew by the tokenizer's own template.
                Without, a chat stays the text that the reference model's template made of it.

        Raises:
            NoChatTemplate: there are chats, and the tokenizer has no template.
            ChatUnfit: its template does not take one of the chats.
            GroundUnfit: it does, but keeps other parts of an answer than the reference model's template.
            ValueError: a text is not valid Unicode.
        """
        documents, texts = list(scored.documents), [Text(text) for text in scored.texts]
        if chats:
            renderer = ChatRenderer.of(tokenizer)
            for place, document in enumerate(documents):
                if document.id in chats:
                    rendered = renderer.render(chats[document.id])
                    _check_alike(document, rendered.document)
                    documents[place], texts[place] = rendered.document, rendered.text
        backend = TextTokenizer(tokenizer.backend_tokenizer, bos_id=None)
        tokenized = backend.tokenize(texts)
        tokens = Tokens.from_offsets(
            _joined([each.ids for each in tokenized]),
            _joined([each.starts for each in tokenized]),
            _joined([each.ends for each in tokenized]),
            offsets_of([each.ids.size for each in tokenized]),
            np.array([each.covered for each in tokenized], dtype=np.int64),
        )
        supervised = touched(tokens, _supervised(documents))
        marked = np.repeat(np.array([bool(text.markup) for text in texts], dtype=np.bool_), np.diff(tokens.row_offsets))
        special = np.isin(tokens.ids, [id_ for id_, token in tokenizer.added_tokens_decoder.items() if token.special])
        ends_turn = np.zeros(tokens.size, dtype=np.bool_)
        ends_turn[1:] = marked[1:] & special[1:] & supervised[:-1]
        return cls(scored, documents, tokens, supervised | ends_turn, backend.sha256)

    @property
    def material(self) -> Material:
        """What methods that need no scores look at; the scores are no numbers."""
        nothing = np.full(self.tokens.size, np.nan, dtype=np.float32)
        return Material(
            self.documents, Batch(self.tokens, nothing, self.supervised, [each.text for each in self.documents])
        )

    @property
    def targets(self) -> Bool:
        """Supervised tokens that share a character with a labelled span, shape (N,)."""
        return touched(self.tokens, self.material.targets) & self.supervised

    def carried(self, spans: Spans) -> Spans:
        """Carry spans of the scored texts over to the texts that the trained model reads; spans outside answers go."""
        pairs = [
            row if ours is theirs else _moved(row, ours, theirs)
            for row, ours, theirs in zip(spans.pairs(), self.scored.documents, self.documents, strict=True)
        ]
        return Spans.of(pairs)


def runs(selected: Bool, lengths: I64) -> Spans:
    """Character spans of the marked characters of R texts laid end to end.

    Args:
        selected: shape (C,).
        lengths: code points of each text, shape (R,).
    """
    offsets = offsets_of(lengths)
    row = row_numbers(offsets)
    first = np.ones(selected.size, dtype=np.bool_)
    first[1:] = ~selected[:-1] | (row[1:] != row[:-1])
    last = np.ones(selected.size, dtype=np.bool_)
    last[:-1] = ~selected[1:] | (row[1:] != row[:-1])
    start, end = np.flatnonzero(selected & first), np.flatnonzero(selected & last)
    base = offsets[row[start]]
    return Spans(start - base, end + 1 - base, np.searchsorted(row[start], np.arange(lengths.size + 1)))


def _check_alike(ours: Document, theirs: Document) -> None:
    """Refuse a chat of which the two templates keep different parts: no offset of one is an offset of the other."""
    parts = [[document.text[each.start : each.end] for each in document.regions] for document in (ours, theirs)]
    if parts[0] != parts[1]:
        raise GroundUnfit(
            f"document {ours.id}: the two models' templates keep different parts of an answer (white space, thoughts):"
            " strip the answers, or leave the chats as the reference model renders them"
        )


def _moved(row: Sequence[tuple[int, int]], ours: Document, theirs: Document) -> list[tuple[int, int]]:
    return [
        (max(start, a.start) + b.start - a.start, min(end, a.end) + b.start - a.start)
        for start, end in row
        for a, b in zip(ours.regions, theirs.regions, strict=True)
        if max(start, a.start) < min(end, a.end)
    ]


def _supervised(documents: Sequence[Document]) -> Spans:
    return Spans.of(
        [(0, len(document.text))]
        if document.supervised is None
        else [(part.start, part.end) for part in document.supervised]
        for document in documents
    )


def _joined(parts: Sequence[np.ndarray]) -> I64:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)
