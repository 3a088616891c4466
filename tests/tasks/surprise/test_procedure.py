import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.surprise.combine import Combination
from tasks.surprise.procedure import (
    Batch,
    CombinedScore,
    FixedWindows,
    Procedure,
    Propagation,
    RegionWindows,
    SegmentWindows,
    TextWindows,
    TopScore,
    WholeWindows,
)
from tasks.surprise.rules import GlobalRule, LocalRule
from tasks.surprise.scores import mean_scores
from tasks.surprise.spans import Spans
from tests.tasks.surprise import naive
from tests.tasks.surprise.batches import NLL, batch_of, booleans, repetitive, tokens_of

Drawn = tuple[list[list[int]], list[list[bool]], list[int]]


def test_figure_1_of_the_paper_comes_out() -> None:
    words = ["Please", "call", "Jane", "at", "555", "−", "014", "7", "tomorrow", "."]
    nll = [2.6, 1.4, 4.5, 1.1, 6.5, 1.4, 6.9, 3.3, 2.1, 0.4]
    assert len(words) == len(nll)
    batch = batch_of([nll])
    procedure = Procedure(windows=FixedWindows(width=2), rule=GlobalRule())
    scores = procedure.window_scores(batch, procedure.cut(batch))
    np.testing.assert_allclose(scores, [2.0, 2.95, 2.8, 3.8, 3.95, 4.15, 5.1, 2.7, 1.25], rtol=1e-15)
    assert procedure.mask(batch, 3.9).astype(int).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0, 0]


@given(
    drawn=repetitive(),
    width=st.integers(1, 4),
    votes=st.integers(1, 4),
    spread=st.sampled_from([None, 1, 2, 3]),
    local=st.booleans(),
    data=st.data(),
)
@settings(max_examples=200, deadline=None)
def test_mask_and_levels_are_the_definition_at_every_threshold(
    drawn: Drawn, width: int, votes: int, spread: int | None, local: bool, data: st.DataObject
) -> None:
    ids, supervised, groups = drawn
    scores = [[data.draw(NLL) for _ in row] for row in ids]
    procedure = Procedure(
        windows=FixedWindows(width=width),
        rule=LocalRule(neighbours=3) if local else GlobalRule(),
        consensus=min(votes, width),
        propagation=None if spread is None else Propagation(width=spread),
    )
    batch = batch_of(scores, ids, supervised, groups)
    levels = procedure.levels(batch)
    windows = [naive.fixed(len(row), width) for row in ids]
    means = [[naive.mean(row, window) for window in cut] for row, cut in zip(scores, windows, strict=True)]
    for threshold in (0.0, 50.0, 100.0 / 3, 100.0) if local else (-1.0, 0.0, 0.25, 0.3, 0.875, 2.0):
        masks = []
        for row, cut, length in zip(means, windows, map(len, ids), strict=True):
            if local:
                chosen = [naive.rank(row, i, 3) < threshold - 1e-9 for i in range(len(row))]
            else:
                chosen = [score >= threshold for score in row]
            masks.append(naive.masked(length, cut, chosen, min(votes, width)))
        restricted = [
            [m and s for m, s in zip(mask, row, strict=True)] for mask, row in zip(masks, supervised, strict=True)
        ]
        if spread is not None:
            restricted = naive.propagated(restricted, ids, groups, supervised, spread)
        assert procedure.mask(batch, threshold).tolist() == booleans(restricted).tolist()
        assert procedure.rule.reached(levels, threshold).tolist() == booleans(restricted).tolist()


TEXT = "x = 1\n\ny = f(x)\nz = 2"
NLL_OF_TEXT = np.where(np.isin(np.arange(len(TEXT)), range(7, 15)), 4.0, 1.0)


def text_batch(**fields: object) -> Batch:
    """TEXT with a token a character; the second statement is surprising."""
    tokens = tokens_of([list(range(len(TEXT)))])
    plain = {"tokens": tokens, "scores": NLL_OF_TEXT, "supervised": np.ones(len(TEXT), dtype=np.bool_)}
    return Batch(**(plain | fields))  # type: ignore[arg-type]


def masked_text(batch: Batch, procedure: Procedure, threshold: float) -> str:
    mask = procedure.mask(batch, threshold)
    assert np.array_equal(procedure.rule.reached(procedure.levels(batch), threshold), mask)
    return "".join(letter for letter, masked in zip(TEXT, mask, strict=True) if masked)


def test_lines_sentences_segments_fields_and_the_whole_are_windows_of_the_procedure() -> None:
    batch = text_batch(texts=[TEXT], regions=Spans.of([[(11, 15), (4, 5)]]))
    rule = GlobalRule()
    assert masked_text(batch, Procedure(windows=TextWindows(kind="lines"), rule=rule), 3.0) == "y = f(x)\n"
    assert masked_text(batch, Procedure(windows=TextWindows(kind="sentences"), rule=rule), 3.0) == "y = f(x)\n"
    assert masked_text(batch, Procedure(windows=SegmentWindows(delimiters="("), rule=rule), 2.0) == "x = 1\n\ny = f("
    assert masked_text(batch, Procedure(windows=RegionWindows(kind="fields"), rule=rule), 4.0) == "f(x)"
    assert masked_text(batch, Procedure(windows=RegionWindows(kind="responses"), rule=rule), 1.0) == "1f(x)"
    whole = Procedure(windows=WholeWindows(), rule=rule)
    assert masked_text(batch, whole, float(NLL_OF_TEXT.mean())) == TEXT
    assert masked_text(batch, whole, 2.2) == ""


def test_the_largest_scores_of_a_line_select_it_where_the_mean_would_not() -> None:
    nll = np.ones(len(TEXT))
    nll[[7, 9, 11]] = 6.0
    batch = text_batch(texts=[TEXT], scores=nll)
    lines = TextWindows(kind="lines")
    assert masked_text(batch, Procedure(windows=lines, score=TopScore(), rule=GlobalRule()), 6.0) == "y = f(x)\n"
    assert masked_text(batch, Procedure(windows=lines, rule=GlobalRule()), 6.0) == ""


def test_features_are_standardised_as_on_the_validation_part_and_averaged() -> None:
    combination = Combination.fit([{"a": np.array([1.0, 3.0, math.nan]), "b": np.array([0.0, 4.0])}])
    lines = Procedure(
        windows=TextWindows(kind="lines"), score=CombinedScore(combination=combination), rule=GlobalRule()
    )
    # a: mean 2, deviation 1; b: mean 2, deviation 2. Lines 1 to 4 (blank included) score 0, -1, 1.5 and invalid.
    features = {"a": np.array([2.0, 1.0, 3.0, math.nan]), "b": np.array([2.0, 0.0, 6.0, 2.0])}
    batch = text_batch(texts=[TEXT], features=features)
    np.testing.assert_array_equal(lines.window_scores(batch, lines.cut(batch)), [0.0, -1.0, 1.5, math.nan])
    assert masked_text(batch, lines, 1.5) == "y = f(x)\n"
    with pytest.raises(ValueError, match=r"feature 'b' is missing: the batch has \['a'\]"):
        lines.mask(text_batch(texts=[TEXT], features={"a": features["a"]}), 0.0)
    with pytest.raises(ValueError, match="feature 'c' has 2 finite scores and no spread"):
        Combination.fit([{"c": np.array([1.0, 1.0])}])


def test_a_window_without_a_score_is_never_selected_so_that_a_first_line_needs_a_prefix() -> None:
    nll = NLL_OF_TEXT.copy()
    nll[0] = math.nan
    batch = text_batch(texts=[TEXT], scores=nll)
    assert masked_text(batch, Procedure(windows=TextWindows(kind="lines"), rule=GlobalRule()), 0.0) == TEXT[6:]


def test_a_batch_that_lacks_what_the_procedure_needs_is_refused() -> None:
    batch = text_batch()
    for windows, missing in (
        (TextWindows(kind="lines"), "windows of lines need a batch with its texts"),
        (SegmentWindows(), "windows of segments need a batch with its texts"),
        (RegionWindows(kind="fields"), "windows of fields need a batch with regions"),
    ):
        with pytest.raises(ValueError, match=missing):
            Procedure(windows=windows, rule=GlobalRule()).mask(batch, 1.0)
    spreading = Procedure(windows=FixedWindows(width=2), rule=GlobalRule(), propagation=Propagation(width=2))
    with pytest.raises(ValueError, match="propagation runs within groups"):
        spreading.mask(batch, 1.0)
    with pytest.raises(ValueError, match="scores has 3 elements"):
        text_batch(scores=np.zeros(3))


def test_a_consensus_that_no_token_can_reach_is_refused() -> None:
    with pytest.raises(ValidationError, match="no token is in more than 2 of such windows"):
        Procedure(windows=FixedWindows(width=2), rule=GlobalRule(), consensus=3)
    for windows in (TextWindows(kind="lines"), SegmentWindows(), WholeWindows()):
        with pytest.raises(ValidationError, match=f"no token is in more than 1 of such windows .{windows.kind}"):
            Procedure(windows=windows, rule=GlobalRule(), consensus=2)
    regions = Procedure(windows=RegionWindows(kind="fields"), rule=GlobalRule(), consensus=2)  # fields may overlap
    assert regions.consensus == 2


def test_whole_completions_have_no_neighbours_to_be_ranked_among() -> None:
    with pytest.raises(ValidationError, match="a record has one, without neighbours"):
        Procedure(windows=WholeWindows(), rule=LocalRule())


def test_lines_rank_among_the_lines_of_their_own_record() -> None:
    texts = ["a\nb\nc\n", "d\n"]
    tokens = tokens_of([[0] * 6, [0] * 2])
    nll = np.array([1.0, 1.0, 5.0, 5.0, 2.0, 2.0, 9.0, 9.0])
    batch = Batch(tokens, nll, np.ones(8, dtype=np.bool_), texts=texts)
    procedure = Procedure(windows=TextWindows(kind="lines"), rule=LocalRule())
    assert mean_scores(nll, procedure.cut(batch)).tolist() == [1.0, 5.0, 2.0, 9.0]
    assert procedure.mask(batch, 50.0).astype(int).tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
