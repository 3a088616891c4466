import numpy as np
import pytest

from tasks.surprise.baselines.methods import (
    AtThreshold,
    CharacterLevels,
    Material,
    SurpriseMasking,
    TokenLevels,
    is_masked,
)
from tasks.surprise.documents import Document
from tasks.surprise.procedure import FixedWindows, Procedure
from tasks.surprise.project import project
from tasks.surprise.rules import GlobalRule, LocalRule
from tasks.surprise.spans import Spans
from tests.tasks.surprise.baselines.materials import Given, material_of, tokens_of

FIGURE_1 = ["Please", " call", " Jane", " at", " 555", "-", "014", "7", " tomorrow", "."]
NLL = [2.6, 1.4, 4.5, 1.1, 6.5, 1.4, 6.9, 3.3, 2.1, 0.4]
INF = -np.inf


def test_figure_1_of_the_paper_stands_among_the_methods() -> None:
    method = SurpriseMasking(Procedure(windows=FixedWindows(width=2), rule=GlobalRule()))
    material = material_of([FIGURE_1], scores=NLL)
    masked = is_masked(AtThreshold(method, 3.9).levels(material).on_characters())
    assert "".join(letter for letter, out in zip("".join(FIGURE_1), masked, strict=True) if out) == " 555-0147"


def test_a_token_of_another_tokenizer_has_the_highest_level_of_its_characters() -> None:
    levels = TokenLevels(tokens_of([["ab", "cd"], ["e"]]), np.array([1.0, 3.0, 2.0]), np.array([4, 1]))
    assert levels.on_characters().tolist() == [1, 1, 3, 3, 2]
    assert levels.on_tokens(tokens_of([["a", "bc", "d"], ["e"]])).tolist() == [1, 3, 3, 2]
    assert levels.on_tokens(levels.tokens) is levels.levels


def test_levels_carried_over_mask_at_every_threshold_what_projection_masks() -> None:
    rng = np.random.default_rng(3)
    here, there = tokens_of([["abc", "d", "ef"], ["gh", "ijkl"]]), tokens_of([["a", "bcde", "f"], ["ghi", "j", "kl"]])
    levels = TokenLevels(here, rng.integers(0, 4, here.size).astype(float), np.array([6, 6]))
    for threshold in range(5):
        carried = levels.on_tokens(there) >= threshold
        assert carried.tolist() == project(here, levels.levels >= threshold, there).tolist()


def test_a_token_without_characters_is_never_masked_by_characters() -> None:
    levels = CharacterLevels(np.array([5.0]), np.array([1]))
    assert levels.on_tokens(tokens_of([["a", ""]])).tolist() == [5.0, INF]


def test_spans_are_marked_only_where_supervised() -> None:
    material = material_of([["ab", "cd"]], supervised=[[(2, 4)]])
    assert CharacterLevels.of_spans(Spans.of([[(1, 3)]]), material).levels.tolist() == [INF, INF, 1, INF]


def test_local_ranks_take_a_threshold_too() -> None:
    method = SurpriseMasking(Procedure(windows=FixedWindows(width=1), rule=LocalRule()))
    material = material_of([["a", "b", "c", "d"]], scores=[1, 4, 2, 3])  # ranks 100, 0, 66.7, 33.3
    assert is_masked(AtThreshold(method, 40.0).levels(material).levels).tolist() == [False, True, False, True]


def test_a_fixed_method_takes_no_threshold() -> None:
    fixed = AtThreshold(Given([1.0]), 0.5)
    assert fixed.name == "given at 0.5"
    with pytest.raises(ValueError, match=r"given at 0\.5 is fixed"):
        AtThreshold(fixed, 1.0).levels(material_of([["a"]]))


def test_methods_on_tokens_say_that_they_need_scores() -> None:
    method = SurpriseMasking(Procedure(windows=FixedWindows(width=1), rule=GlobalRule()))
    with pytest.raises(ValueError, match="SM works on tokens with reference scores"):
        method.levels(Material([Document("a", "text")]))
