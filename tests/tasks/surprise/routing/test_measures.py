import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.baselines.methods import CharacterLevels, Levels, Material
from tasks.surprise.documents import Document, Label
from tasks.surprise.procedure import Batch
from tasks.surprise.routing.bleu import sentence_bleu
from tasks.surprise.routing.cost import usd_per_million
from tasks.surprise.routing.judge import private_values, values_gone
from tasks.surprise.routing.ranking import Ranked, at_random, by_method, by_scores, least, ranks_of, sent
from tests.tasks.surprise.batches import tokens_of


def test_bleu_of_the_same_text_is_one_and_of_another_zero() -> None:
    assert sentence_bleu("a b c d e", "a b c d e") == sentence_bleu("a b", "a b") == 1.0
    assert sentence_bleu("a b c d", "x y") == 0.0
    assert sentence_bleu("a b c d", "") == 0.0
    assert sentence_bleu("", "") == 1.0


def test_bleu_is_the_geometric_mean_of_clipped_precisions_and_brevity() -> None:
    # 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples; 7 words in the source
    expected = (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25 * math.exp(1 - 7 / 6)
    assert sentence_bleu("the cat sat on the mat today", "the cat sat on a mat") == pytest.approx(expected)


def test_an_order_without_a_match_counts_a_tenth_of_one() -> None:
    # 2 of 2 words, 0 of 1 pair; there are no longer n-grams
    expected = (2 / 2 * 0.1 / 1) ** 0.5
    assert sentence_bleu("a b", "b a") == pytest.approx(expected)


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
@settings(max_examples=60, deadline=None)
def test_bleu_is_between_zero_and_one(source: list[str], rewritten: list[str]) -> None:
    assert 0.0 <= sentence_bleu(" ".join(source), " ".join(rewritten)) <= 1.0 + 1e-12


def test_the_papers_costs_follow_from_its_counts() -> None:
    # SM App. F.4, OPF routing of RedacBench by GPT-5.5; the paper says 41.97 with the selector and cached tokens.
    rewriter = (789_669 * 5.00 + 56_832 * 30.00) / 1e6
    assert usd_per_million(rewriter, 0.0, 135_404) == pytest.approx(41.75, abs=0.01)
    assert usd_per_million(1.0, 0.5, 2_000_000) == 0.75
    with pytest.raises(ValueError, match="source tokens"):
        usd_per_million(1.0, 0.0, 0)


def test_values_are_gone_when_neither_they_nor_their_like_are_left() -> None:
    text = "Jane Roe, pin 4711, again Jane Roe."
    document = Document("d", text, labels=(Label(0, 8, "name"), Label(14, 18, "pin"), Label(26, 34, "name")))
    values = private_values(document)
    assert values == [("name", "Jane Roe"), ("pin", "4711")]
    assert values_gone("JANE ROE, pin [REDACTED]", values) == 1
    assert values_gone("a person, a pin", values) == 2


TEXTS = ["First one. Second two.", "Third."]


def material(scores: list[list[float]]) -> Material:
    tokens = tokens_of([range(len(row)) for row in scores], [[(0, 5), (5, 11), (11, 17), (17, 22)], [(0, 5), (5, 6)]])
    flat = np.array([score for row in scores for score in row])
    batch = Batch(tokens, flat, np.ones(flat.size, dtype=np.bool_), TEXTS)
    return Material([Document(f"d{place}", text) for place, text in enumerate(TEXTS)], batch)


def test_a_sentence_counts_by_its_three_largest_scores() -> None:
    given = material([[1.0, 3.0, 6.0, 2.0], [7.0, math.nan]])
    ranked = by_scores(given, least([given]))
    assert ranked.spans.pairs() == [[(0, 11), (11, 22)], [(0, 6)]]
    assert ranked.scores.tolist() == [2.0, 4.0, 4.0]  # a token without a score counts as the least surprising, 1
    assert ranks_of(ranked.scores).tolist() == [3, 1, 2]  # of equals the earlier


def test_a_sentence_without_any_score_is_never_sent() -> None:
    ranked = by_scores(material([[1.0, 1.0, 1.0, 1.0], [math.nan, math.nan]]), 1.0)
    assert ranked.scores[2] == -math.inf
    assert ranks_of(ranked.scores).tolist() == [1, 2, 0]


def test_shards_are_ranked_as_one_corpus() -> None:
    shards = [material([[1.0, 3.0, 6.0, 2.0], [7.0, math.nan]]), material([[0.5, 4.0, 5.0, math.nan], [2.0, 9.0]])]
    floor = least(shards)
    assert floor == 0.5
    ranked = Ranked.joined(by_scores(shard, floor) for shard in shards)
    assert ranked.scores.tolist() == [2.0, 4.0, 3.75, 2.25, 2.75, 5.5]  # the one without a score counts as 0.5
    assert ranked.spans.pairs() == [[(0, 11), (11, 22)], [(0, 6)]] * 2
    assert Ranked.joined([]).scores.size == 0
    assert least([]) == math.inf


class Fixed:
    """Marks one character."""

    name, rule = "fixed", None

    def levels(self, material: Material) -> Levels:
        levels = np.full(28, -math.inf)
        levels[13] = 1.0
        return CharacterLevels(levels, material.lengths)


def test_a_detector_sends_the_sentences_it_finds_something_in() -> None:
    ranked = by_method(Fixed(), material([[1.0] * 4, [1.0] * 2]))
    assert ranks_of(ranked.scores).tolist() == [0, 1, 0]


def test_chance_does_not_depend_on_the_order_of_documents() -> None:
    given = material([[1.0] * 4, [1.0] * 2])
    assert at_random(given, 1).scores.tolist() == at_random(given, 1).scores.tolist()
    assert at_random(given, 1).scores.tolist() != at_random(given, 2).scores.tolist()


def test_a_budget_is_at_least_its_share() -> None:
    assert [sent(budget, 20) for budget in (0.1, 0.2, 0.8, 1.0)] == [2, 4, 16, 20]
    assert sent(0.1, 3) == 1
