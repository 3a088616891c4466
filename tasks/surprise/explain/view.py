"""One scored text, cut into pieces that a page or a terminal can colour, with what a policy does to each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tasks.report.marks import visible
from tasks.surprise.evaluation.material import with_features
from tasks.surprise.policy import Policy, Unprompted
from tasks.surprise.procedure import Batch
from tasks.surprise.rows import F64, I64, Bool
from tasks.surprise.scored import ScoredSet, ScoresUnfit
from tasks.surprise.windows import Windows

STEPS = (0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 10.0)  # nats: where one colour ends and the next begins


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that the same tokens stand for.

    Attributes:
        text: the characters; all pieces joined are the text.
        scores: of its tokens, in nats: NLL, or the contrast; None where a token has none. Several tokens share a piece
            where a character takes more than one, none stands for what was not scored.
        heat: the step of its highest score, 0 for the least surprising.
        window: the highest score of a window that holds it; None without a policy, or a valid window.
        selected: windows that hold it and are selected.
        windows: windows that hold it.
        masked: the policy masks it.
        propagated: it does so because the same tokens are masked elsewhere.
        labels: categories of the labelled spans it lies in.
        shown: the text for eyes: no control characters, LF for every CRLF, also one that tokens part.
        opens: a run of masked pieces begins here.
        closes: it ends here.
    """

    text: str
    scores: tuple[float | None, ...]
    heat: int
    window: float | None
    selected: int
    windows: int
    masked: bool
    propagated: bool
    labels: tuple[str, ...]
    shown: str = ""
    opens: bool = False
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Masked:
    """A run of text that the policy masks."""

    text: str
    start: int
    mean: float | None  # of its tokens' scores, nats
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A text with all that is said of it.

    Attributes:
        pieces: in order; joined they are the text.
        runs: what is masked.
        tokens: of the text.
        masked_tokens: of them; None without a policy.
        mean: score of a token, in nats; None where none has one.
        score_name: what the scores are.
        rule: how windows are selected, in words; empty without a policy.
    """

    pieces: tuple[Piece, ...]
    runs: tuple[Masked, ...]
    tokens: int
    masked_tokens: int | None
    mean: float | None
    score_name: str
    rule: str


@dataclass(frozen=True, eq=False)
class _Marks:
    """What a policy says of each token, shape (N,) each."""

    window: F64  # highest score of a valid window that holds it; NaN where none does
    selected: I64
    windows: I64
    masked: Bool
    by_windows: Bool


def explain(scored: ScoredSet, policy: Policy | None) -> Explained:
    """Explain a single scored text.

    Args:
        scored: one document; propagation sees no other.
        policy: what to mask by; None for the scores alone.

    Raises:
        PolicyMismatch, ScoresUnfit: the text was scored with another model or prompt than the policy's.
        ValueError: there is not exactly one document.
    """
    if len(scored) != 1:
        raise ValueError(f"{len(scored)} documents: one at a time is explained")
    if policy is None:
        if not scored.conditionings:
            raise ScoresUnfit("the text has no scores")
        conditioning = scored.conditionings[0]
        batch, marks = scored.batch(conditioning), None
    else:
        policy.check(scored.reference)
        conditioning = policy.conditioning
        batch = with_features(scored, policy.procedure, conditioning)
        marks = _marks(batch, policy)
    text = scored.texts[0]
    labels = [(label.start, label.end, label.category) for label in scored.documents[0].labels]
    pieces = _pieces(text, batch, marks, labels)
    values = np.asarray(batch.scores, dtype=np.float64)
    finite = values[np.isfinite(values)]
    return Explained(
        pieces,
        tuple(_runs(pieces)),
        batch.tokens.size,
        None if marks is None else int(marks.masked.sum()),
        float(finite.mean()) if finite.size else None,
        "NLL" if isinstance(conditioning, Unprompted) else conditioning.kind,
        "" if policy is None else rule_in_words(policy),
    )


def rule_in_words(policy: Policy) -> str:
    """Say in a sentence how a policy selects."""
    procedure = policy.procedure
    windows: str = procedure.windows.kind
    if procedure.windows.kind == "fixed":
        windows = f"windows of {procedure.windows.width} tokens"
    score = {"mean": "mean score", "top": "mean of the largest scores", "combined": "combined features"}
    rule = f"{score[procedure.score.kind]} of at least {policy.threshold:.4g}"
    if procedure.rule.kind == "local":
        rule = f"less than {policy.threshold:.4g} % of up to {2 * procedure.rule.neighbours} neighbours as surprising"
    votes = f", {procedure.consensus} of them over a token" if procedure.consensus > 1 else ""
    spread = (
        "" if procedure.propagation is None else f"; {procedure.propagation.width} masked tokens mask their repeats"
    )
    return f"{windows} with {rule}{votes}{spread}"


def heat_of(score: float) -> int:
    """The step of a score, from 0 to ``len(STEPS)``."""
    return int(np.searchsorted(STEPS, score, side="right"))


def _marks(batch: Batch, policy: Policy) -> _Marks:
    procedure = policy.procedure
    windows = procedure.cut(batch)
    scores = procedure.window_scores(batch, windows)
    chosen = procedure.rule.select(scores, windows, policy.threshold)
    size = batch.tokens.size
    alone = procedure.model_copy(update={"propagation": None})
    groups = np.zeros(1, dtype=np.int64)  # one text is a group of its own, whatever it belonged to
    one = Batch(batch.tokens, batch.scores, batch.supervised, batch.texts, batch.regions, groups, batch.features)
    return _Marks(
        _highest(windows, scores, size),
        _held(windows, chosen, size),
        _held(windows, np.ones(windows.size, dtype=np.bool_), size),
        procedure.mask(one, policy.threshold),
        alone.mask(batch, policy.threshold),
    )


def _held(windows: Windows, kept: Bool, size: int) -> I64:
    """How many of the kept windows hold each token."""
    steps = np.bincount(windows.first[kept], minlength=size + 1) - np.bincount(windows.stop[kept], minlength=size + 1)
    return np.cumsum(steps[:size])


def _highest(windows: Windows, scores: F64, size: int) -> F64:
    highest = np.full(size, np.nan)
    for first, stop, score in zip(windows.first, windows.stop, scores, strict=True):
        highest[first:stop] = np.fmax(highest[first:stop], score)
    return highest


def _pieces(text: str, batch: Batch, marks: _Marks | None, labels: Sequence[tuple[int, int, str]]) -> tuple[Piece, ...]:
    spans = batch.tokens.spans
    edges = np.unique(np.concatenate([[0, len(text)], spans.start, spans.end, *([a, b] for a, b, _ in labels)]))
    covering: list[list[int]] = [[] for _ in range(max(edges.size - 1, 0))]
    first, stop = np.searchsorted(edges, spans.start), np.searchsorted(edges, spans.end)
    for token in range(batch.tokens.size):
        for place in range(first[token], stop[token]):
            covering[place].append(token)
    cut = []
    for (start, end), tokens in zip(pairwise(edges.tolist()), covering, strict=True):
        inside = tuple(dict.fromkeys(name for a, b, name in labels if a <= start and end <= b))
        cut.append(_piece(text[start:end], tokens, batch, marks, inside))
    return tuple(_bounded(cut))


def _piece(text: str, tokens: Sequence[int], batch: Batch, marks: _Marks | None, labels: tuple[str, ...]) -> Piece:
    scores = [float(batch.scores[token]) for token in tokens]
    finite = [score for score in scores if np.isfinite(score)]
    shown = tuple(score if np.isfinite(score) else None for score in scores)
    heat = heat_of(max(finite)) if finite else 0
    if marks is None or not tokens:
        return Piece(text, shown, heat, None, 0, 0, False, False, labels)
    at = list(tokens)
    valid = marks.window[at][~np.isnan(marks.window[at])]
    masked = bool(marks.masked[at].any())
    return Piece(
        text,
        shown,
        heat,
        float(valid.max()) if valid.size else None,
        int(marks.selected[at].max()),
        int(marks.windows[at].max()),
        masked,
        masked and not bool(marks.by_windows[at].any()),
        labels,
    )


def _bounded(pieces: Sequence[Piece]) -> list[Piece]:
    """Say how pieces are shown, and where runs of masked ones begin and end."""
    bounded = []
    for place, piece in enumerate(pieces):
        before = place > 0 and pieces[place - 1].masked
        following = pieces[place + 1] if place + 1 < len(pieces) else None
        halved = piece.text.endswith("\r") and following is not None and following.text.startswith("\n")
        bounded.append(
            replace(
                piece,
                shown=visible(piece.text[:-1] if halved else piece.text),
                opens=piece.masked and not before,
                closes=piece.masked and not (following is not None and following.masked),
            )
        )
    return bounded


def _runs(pieces: Sequence[Piece]) -> list[Masked]:
    runs: list[Masked] = []
    held: list[Piece] = []
    start = done = 0
    for piece in pieces:
        if piece.opens:
            held, start = [], done
        if piece.masked:
            held.append(piece)
        if piece.closes:
            scores = [score for each in held for score in each.scores if score is not None]
            runs.append(
                Masked(
                    "".join(each.text for each in held),
                    start,
                    sum(scores) / len(scores) if scores else None,
                    tuple(dict.fromkeys(name for each in held for name in each.labels)),
                )
            )
        done += len(piece.text)
    return runs
