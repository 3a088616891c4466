"""From masked tokens to characters, and from characters to the tokens of any other tokenizer."""

import numpy as np

from tasks.surprise.rows import Bool, check_sizes, row_numbers
from tasks.surprise.spans import Spans, overlaps, union
from tasks.surprise.tokens import Tokens


def characters(tokens: Tokens, mask: Bool) -> Spans:
    """Character intervals of the masked tokens, merged.

    Args:
        tokens: of R texts, with covering spans (``offsets.cover``): no character of a masked token is left out.
        mask: shape (N,).

    Raises:
        ValueError: there is not one flag a token.
    """
    check_sizes("tokens", tokens.size, {"the mask": mask.size})
    rows = row_numbers(tokens.row_offsets)[mask]
    offsets = np.searchsorted(rows, np.arange(tokens.spans.rows + 1))
    return union(Spans(tokens.spans.start[mask], tokens.spans.end[mask], offsets))


def touched(tokens: Tokens, spans: Spans) -> Bool:
    """Mark the tokens that share at least one character with a span, shape (N,).

    A token [c, d) is marked iff ``max(a, c) < min(b, d)`` for a span [a, b): tokens across a border are in. With the
    labelled spans this is the oracle mask, with the assistant's turns the supervised tokens.

    Raises:
        ValueError: the spans are not of the same texts.
    """
    return overlaps(tokens.spans, spans)


def project(tokens: Tokens, mask: Bool, downstream: Tokens) -> Bool:
    """Carry a mask over reference tokens to another tokenizer's tokens of the same texts.

    Args:
        tokens: of the reference model.
        mask: over them, shape (N,).
        downstream: tokens of the model to be trained, their offsets in code points of the same texts.

    Returns:
        One flag for each downstream token.

    Raises:
        ValueError: the two are not of the same texts.
    """
    return touched(downstream, characters(tokens, mask))
