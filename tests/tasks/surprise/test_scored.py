import math

import numpy as np
import pytest

from tasks.surprise.documents import Document, Interval, Label, Region
from tasks.surprise.policy import Contrasted, Prompted, Reference, Unprompted
from tasks.surprise.scored import ScoredSet, ScoresUnfit
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row, score_table

REFERENCE = Reference(model=MODEL, tokenizer_sha256=TOKENIZER)
ROWS = [
    score_row(0, "abc", {"plain": [math.nan, 2.0, 3.0]}, group="ann", strata=[{"name": "lang", "value": "en"}]),
    score_row(1, "", {"plain": []}),
    score_row(
        2,
        "défgh",
        {"plain": [4.0, 5.0, 6.0, 7.0, 8.0]},
        group="ben",
        supervised=[{"start": 1, "end": 2}, {"start": 3, "end": 5}],
        labels=[{"start": 1, "end": 3, "category": "name"}, {"start": 2, "end": 4, "category": "phone"}],
        labelled=True,
        regions=[{"start": 0, "end": 5, "name": "reply"}],
    ),
    score_row(3, "xy", {"plain": [9.0, 10.0]}, group="ann"),
]


def scored(rows: list[dict[str, object]] = ROWS, **prompts: str) -> ScoredSet:
    return ScoredSet(score_table(rows), REFERENCE, "b" * 64, prompts)


def test_tokens_and_scores_lie_end_to_end_in_the_order_of_the_documents() -> None:
    batch = scored().batch(Unprompted())
    assert batch.tokens.ids.tolist() == [ord(character) for character in "abcdéfghxy"]
    assert batch.tokens.row_offsets.tolist() == [0, 3, 3, 8, 10]
    assert batch.tokens.spans.pairs()[2] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert np.isnan(batch.scores[0])
    assert batch.scores[1:].tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert batch.texts == ["abc", "", "défgh", "xy"]


def test_only_tokens_of_supervised_characters_are_supervised_and_all_where_nothing_is_said() -> None:
    assert scored().supervised.tolist() == [True] * 3 + [False, True, False, True, True] + [True] * 2


def test_nothing_is_supervised_where_no_interval_is() -> None:
    assert not scored([score_row(0, "abc", supervised=[])]).supervised.any()


def test_groups_are_numbers_in_the_order_in_which_they_come() -> None:
    assert scored().groups.tolist() == [0, -1, 1, 0]


def test_labels_and_regions_are_spans_with_their_names() -> None:
    found = scored()
    assert found.labels.pairs() == [[], [], [(1, 3), (2, 4)], []]
    assert found.categories == ["name", "phone"]
    assert found.regions.pairs() == [[], [], [(0, 5)], []]
    assert found.region_names == ["reply"]
    assert found.labelled.tolist() == [False, False, True, False]
    assert found.lengths.tolist() == [3, 0, 5, 2]
    assert found.strata == [{"lang": "en"}, {}, {}, {}]


def test_documents_come_back_as_they_were() -> None:
    assert scored().documents[2] == Document(
        id="d2",
        text="défgh",
        group="ben",
        supervised=(Interval(1, 2), Interval(3, 5)),
        labels=(Label(1, 3, "name"), Label(2, 4, "phone")),
        labelled=True,
        regions=(Region(0, 5, "reply"),),
    )
    assert scored().documents[0].supervised is None


def test_taken_documents_are_a_set_of_their_own() -> None:
    some = scored().take(np.array([False, False, True, True]))
    assert some.ids == ["d2", "d3"] == scored().take([2, 3]).ids
    assert some.batch(Unprompted()).scores.tolist() == [4, 5, 6, 7, 8, 9, 10]
    assert some.labels.pairs() == [[(1, 3), (2, 4)], []]
    assert some.groups.tolist() == [0, 1]
    assert scored().take([]).batch  # an empty stratum is no error before it is scored


def test_a_contrast_is_the_difference_of_two_passes() -> None:
    rows = [score_row(0, "ab", {"violating": [1.0, 2.0], "compliant": [4.0, 8.0]})]
    found = scored(rows, violating="V", compliant="C")
    assert found.conditionings == [Contrasted(violating="V", compliant="C")]
    assert found.batch(found.conditionings[0]).scores.tolist() == [3.0, 6.0]


def test_scores_under_another_prompt_are_refused() -> None:
    rows = [score_row(0, "ab", {"prompted": [1.0, 2.0]})]
    assert scored(rows, prompted="P").batch(Prompted(prompt="P")).scores.tolist() == [1.0, 2.0]
    with pytest.raises(ScoresUnfit, match="another prompt"):
        scored(rows, prompted="P").batch(Prompted(prompt="Q"))
    with pytest.raises(ScoresUnfit, match="no plain scores here, only prompted"):
        scored(rows, prompted="P").batch(Unprompted())


def test_documents_under_different_passes_are_no_set() -> None:
    rows = [score_row(0, "a", {"plain": [1.0]}), score_row(1, "a", {"prompted": [1.0]})]
    with pytest.raises(ScoresUnfit, match="different passes"):
        scored(rows).batch(Unprompted())


@pytest.mark.parametrize("changed", [{"model": "other"}, {"tokenizer_sha256": "c" * 64}])
def test_scores_of_two_models_are_no_set(changed: dict[str, str]) -> None:
    with pytest.raises(ScoresUnfit, match="score all with one model"):
        scored([score_row(0, "a"), score_row(1, "b", **changed)])
