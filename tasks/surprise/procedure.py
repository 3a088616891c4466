"""The complete procedure of Surprise Masking, from token scores to a token mask (SM section 2, Table 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.surprise import segments
from tasks.surprise.combine import Combination
from tasks.surprise.levels import token_levels
from tasks.surprise.propagate import propagate, propagate_levels
from tasks.surprise.repeats import Repeats, Straddling, find_repeats
from tasks.surprise.rows import F64, I64, Bool, Scores, check_sizes
from tasks.surprise.rules import LocalRule, Rule
from tasks.surprise.scores import mean_scores, top_scores
from tasks.surprise.select import consensus
from tasks.surprise.spans import Spans
from tasks.surprise.tokens import Tokens
from tasks.surprise.windows import Windows, fixed_windows, span_windows, tiled_windows, whole_windows


@dataclass(frozen=True, eq=False)
class Batch:
    """Scored records, and what the windows and the propagation of a procedure may need of them.

    Attributes:
        tokens: of the reference model.
        scores: NLL of each token in nats, or its contrast, shape (N,); NaN where there is none.
        supervised: True where a token may be masked, shape (N,).
        texts: the R texts, for windows that are cut from the text.
        regions: document fields or chat responses, for windows of that kind.
        groups: identity or user of each record, shape (R,), below 0 for none; propagation sees this batch only.
        features: scores of windows computed elsewhere, by name, shape (W,) each; for combined scores.
    """

    tokens: Tokens
    scores: Scores
    supervised: Bool
    texts: Sequence[str] | None = None
    regions: Spans | None = None
    groups: I64 | None = None
    features: Mapping[str, F64] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_sizes("tokens", self.tokens.size, {"scores": self.scores.size, "supervised": self.supervised.size})


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FixedWindows(_Part):
    """Every run of ``width`` tokens."""

    kind: Literal["fixed"] = "fixed"
    width: int = Field(ge=1, description="n, tokens in a window")


class TextWindows(_Part):
    """Complete lines, or sentences."""

    kind: Literal["lines", "sentences"]


class SegmentWindows(_Part):
    """Segments that end with delimiters."""

    kind: Literal["segments"] = "segments"
    delimiters: str = Field(default=".,;:!?\n", min_length=1, description="characters that end a segment")


class RegionWindows(_Part):
    """Spans that come with the data: the fields of a document, or the responses of a chat."""

    kind: Literal["fields", "responses"]


class WholeWindows(_Part):
    """The whole completion: one window from the first to the last supervised token of a record."""

    kind: Literal["whole"] = "whole"


class MeanScore(_Part):
    """Mean token score."""

    kind: Literal["mean"] = "mean"


class TopScore(_Part):
    """Mean of the largest token scores."""

    kind: Literal["top"] = "top"
    count: int = Field(default=3, ge=1, description="how many of the largest are averaged")


class CombinedScore(_Part):
    """Average of features of windows, standardised as on the validation part."""

    kind: Literal["combined"] = "combined"
    combination: Combination


class Propagation(_Part):
    """Duplicate propagation within a group."""

    width: int = Field(ge=1, description="n, tokens of a sequence that selects its occurrences")
    straddling: Straddling = Field(
        default="clip", description="occurrences partly outside supervision: masked as far as supervised, or not at all"
    )


WindowKind = Annotated[
    FixedWindows | TextWindows | SegmentWindows | RegionWindows | WholeWindows, Field(discriminator="kind")
]
ScoreKind = Annotated[MeanScore | TopScore | CombinedScore, Field(discriminator="kind")]


class Procedure(_Part):
    """All choices of Surprise Masking but the threshold."""

    windows: WindowKind
    score: ScoreKind = MeanScore()
    rule: Rule
    consensus: int = Field(default=1, ge=1, description="k, selected windows that must hold a token")
    propagation: Propagation | None = None

    @model_validator(mode="after")
    def _something_can_be_selected(self) -> Self:
        most = _most_windows(self.windows)
        if most is not None and self.consensus > most:
            raise ValueError(
                f"consensus {self.consensus}: no token is in more than {most} of such windows ({self.windows.kind}):"
                f" ask for a consensus of {most} at most"
            )
        if isinstance(self.windows, WholeWindows) and isinstance(self.rule, LocalRule):
            raise ValueError("local ranks of whole completions: a record has one, without neighbours: use global")
        return self

    def mask(self, batch: Batch, threshold: float) -> Bool:
        """Mask tokens at a threshold: windows, scores, rule, consensus, supervised tokens, propagation.

        Returns:
            The mask over the batch's tokens, shape (N,).

        Raises:
            ValueError: the batch lacks what the windows or the propagation need.
        """
        windows = self.cut(batch)
        selected = self.rule.select(self.window_scores(batch, windows), windows, threshold)
        mask = consensus(windows, selected, self.consensus, batch.tokens.size) & batch.supervised
        repeats = self.repeats(batch)
        return mask if repeats is None else propagate(mask, repeats)

    def levels(self, batch: Batch) -> F64:
        """Level of each token: masked at exactly the thresholds that its level reaches, shape (N,).

        Equal to ``mask`` at every threshold: ``rule.reached(levels(batch), t)`` is ``mask(batch, t)``.

        Raises:
            ValueError: the batch lacks what the windows or the propagation need.
        """
        windows = self.cut(batch)
        of_windows = self.rule.levels(self.window_scores(batch, windows), windows)
        levels = token_levels(windows, of_windows, self.consensus, batch.tokens.size)
        levels[~batch.supervised] = -np.inf
        repeats = self.repeats(batch)
        return levels if repeats is None else propagate_levels(levels, repeats)

    def cut(self, batch: Batch) -> Windows:
        """Lay the windows over a batch.

        Raises:
            ValueError: they are cut from the text, or from regions, and the batch has none.
        """
        tokens = batch.tokens
        match self.windows:
            case FixedWindows(width=width):
                return fixed_windows(tokens.row_offsets, width)
            case WholeWindows():
                return whole_windows(tokens.row_offsets, batch.supervised)
            case RegionWindows(kind=kind):
                if batch.regions is None:
                    raise ValueError(f"windows of {kind} need a batch with regions: where do the {kind} stand?")
                return span_windows(tokens, batch.regions).windows
            case TextWindows() | SegmentWindows():
                if batch.texts is None:
                    raise ValueError(f"windows of {self.windows.kind} need a batch with its texts")
                return tiled_windows(tokens, segments.tile(batch.texts, _cut_of(self.windows))).windows

    def window_scores(self, batch: Batch, windows: Windows) -> F64:
        """Score the windows of ``cut``, shape (W,); NaN where invalid."""
        match self.score:
            case MeanScore():
                return mean_scores(batch.scores, windows)
            case TopScore(count=count):
                return top_scores(batch.scores, windows, count)
            case CombinedScore(combination=combination):
                return combination.apply(batch.features, windows.size)

    def repeats(self, batch: Batch) -> Repeats | None:
        """Find the n-grams that propagation runs along; None where the procedure does not propagate.

        Raises:
            ValueError: it does and the batch has no groups.
        """
        if self.propagation is None:
            return None
        if batch.groups is None:
            raise ValueError("propagation runs within groups: give each record an identity or user, or one for all")
        return find_repeats(
            batch.tokens.ids,
            batch.tokens.row_offsets,
            batch.groups,
            batch.supervised,
            width=self.propagation.width,
            straddling=self.propagation.straddling,
        )


def _most_windows(windows: WindowKind) -> int | None:
    """How many windows hold a token at most; None for regions, which may overlap as they like."""
    match windows:
        case FixedWindows(width=width):
            return width
        case RegionWindows():
            return None
        case TextWindows() | SegmentWindows() | WholeWindows():
            return 1


def _cut_of(windows: TextWindows | SegmentWindows) -> segments.Cut:
    match windows:
        case SegmentWindows(delimiters=delimiters):
            return segments.delimited(delimiters)
        case TextWindows(kind="lines"):
            return segments.lines
        case TextWindows():
            return segments.sentences
