import math

import pytest

from tasks.diversity.metrics import Spread
from tasks.report.figures import Drop, RefinementStep, Spending, Summary
from tasks.report.summary import summarize
from tests.tasks.report.tables import PAIRS, SENTENCE, attribute, record, records, reject, rejects, step

FIRST = record(
    "r0",
    SENTENCE,
    (1.0, 0.0),
    attributes=[
        attribute("animal", "cat", (4, 7)),
        attribute("place", "mat", (19, 22)),
        attribute("age", "9", grounded=False),
    ],
    groups=[{"name": "who", "keys": ["animal", "age"]}, {"name": "where", "keys": ["place"]}],
    refinement=[step(1, "candidate", accepted=True, gain=0.5), step(2, "unparsable", gain=0.25)],
)
SECOND = record(
    "r1",
    PAIRS,
    (0.0, 1.0),
    model="large",
    domain="Legal & Compliance",
    subcategory="Criminal Justice",
    language="Korean",
    attributes=[attribute("letter", "a", (0, 1))],
    groups=[{"name": "all", "keys": ["letter"]}],
    refinement=[step(1, "no_candidate"), step(2, "current", gain=-0.75)],
    profile=FIRST["profile"] | {"sex": "male", "age": 50, "citizenship": "American"},
)
THIRD = record("r2", SENTENCE, (1.0, 0.0), seed=8, record_type=None)


@pytest.fixture(scope="module")
def summary() -> Summary:
    shards = iter([records(FIRST), records(SECOND, THIRD)])
    dropped = [reject("r3"), reject("r4"), reject("r5", "refusal", outcome="quarantined", model="large")]
    return summarize(shards, iter([rejects(*dropped)]))


def test_lexical_metrics_are_means_over_records(summary: Summary) -> None:
    sentence_entropy = math.log2(3) / 3 + 4 * math.log2(6) / 6
    assert summary.whole.mattr == pytest.approx((5 / 6 + 2 / 4 + 5 / 6) / 3)
    assert summary.whole.bigram_diversity == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert summary.whole.entropy_bits == pytest.approx((sentence_entropy + 1 + sentence_entropy) / 3)
    assert summary.whole.words == pytest.approx(16 / 3)


def test_cosine_and_vendi_are_of_the_set(summary: Summary) -> None:
    assert summary.whole.cosine == pytest.approx(1 / 3)  # pairs: 0, 1, 0
    assert summary.whole.vendi == pytest.approx(math.exp(-(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))))
    assert (summary.whole.vectors, summary.whole.vendi_vectors) == (3, 3)


def test_domains_and_models_have_metrics_of_their_own(summary: Summary) -> None:
    assert list(summary.by_domain) == ["Health & Wellness", "Legal & Compliance"]
    assert summary.by_domain["Legal & Compliance"].mattr == pytest.approx(0.5)
    assert summary.by_domain["Legal & Compliance"].cosine is None  # one record makes no pair
    assert summary.by_domain["Health & Wellness"].vendi == pytest.approx(1.0)  # twice the same
    assert summary.by_model["large"].records == 1
    assert summary.by_model["small"].cosine == pytest.approx(1.0)


def test_counts_are_spread_over_records_and_groups(summary: Summary) -> None:
    assert summary.words.spread == Spread(mean=pytest.approx(16 / 3), p50=6.0, p95=6.0)
    assert summary.attributes.values == {0: 1, 1: 1, 3: 1}
    assert summary.attributes.spread == Spread(mean=pytest.approx(4 / 3), p50=1.0, p95=pytest.approx(2.8))
    assert summary.groups.values == {0: 1, 1: 1, 2: 1}
    assert summary.group_size.values == {1: 2, 2: 1}  # of three groups; a record without groups adds none
    assert summary.group_size.spread == Spread(mean=pytest.approx(4 / 3), p50=1.0, p95=pytest.approx(1.9))


def test_grounded_is_a_share_of_attributes_not_of_records(summary: Summary) -> None:
    assert summary.grounded_share == 3 / 4


def test_descriptions_that_a_record_lacks_do_not_lower_their_mean_length(summary: Summary) -> None:
    assert summary.record_type_words == 2.0  # two records have one, "a letter"
    assert summary.context_words == 3.0
    assert summary.format_words is None


def test_refinement_counts_what_was_judged(summary: Summary) -> None:
    assert summary.refinement == (
        RefinementStep(step=1, reached=2, offered=1, preferred=1, unparsable=0, accepted=1, vendi_gain=0.5),
        RefinementStep(step=2, reached=2, offered=2, preferred=0, unparsable=1, accepted=0, vendi_gain=-0.25),
    )


def test_drops_are_listed_by_how_often_they_happened(summary: Summary) -> None:
    assert summary.drops == (Drop("filtered", "draft", "too_short", 2), Drop("quarantined", "draft", "refusal", 1))
    assert summary.kept_share == 3 / 6


def test_dropped_rows_have_been_paid_for(summary: Summary) -> None:
    large, small = summary.spending
    assert large == Spending(
        model="large",
        records=1,
        rejects=1,
        calls=13,
        prompt=120,
        cached=40,
        completion=60,
        reasoning=5,
        cost_usd=pytest.approx(0.30),
        rejects_cost_usd=pytest.approx(0.05),
    )
    assert (small.records, small.rejects, small.calls, small.prompt) == (2, 2, 26, 240)
    assert summary.cost_usd == pytest.approx(0.90)


def test_copies_are_noticed(summary: Summary) -> None:
    assert (summary.repetition.distinct_texts, summary.repetition.most_repeated) == (2, 2)
    assert summary.repetition.near_share == pytest.approx(2 / 3)


def test_people_and_languages_are_counted(summary: Summary) -> None:
    assert summary.profiles.sexes == {"female": 2, "male": 1}
    assert summary.profiles.ages == {30: 2, 50: 1}
    assert summary.profiles.non_us_share == pytest.approx(2 / 3)
    assert summary.languages == {"English": 2, "Korean": 1}
    assert summary.domains == {"Health & Wellness": 2, "Legal & Compliance": 1}
    assert summary.subcategories == {
        ("Health & Wellness", "Medical Care"): 2,
        ("Legal & Compliance", "Criminal Justice"): 1,
    }
    assert summary.seeds == (7, 8)


def test_how_rows_are_cut_into_shards_does_not_matter(summary: Summary) -> None:
    dropped = [reject("r5", "refusal", outcome="quarantined", model="large"), reject("r3"), reject("r4")]
    assert summarize([records(FIRST, SECOND, THIRD)], [rejects(row) for row in dropped]) == summary


def test_a_set_of_nothing_has_figures_of_none() -> None:
    empty = summarize([], [])
    assert (empty.records, empty.rejects, empty.kept_share, empty.cost_usd) == (0, 0, None, 0)
    assert (empty.whole.mattr, empty.whole.cosine, empty.whole.vendi, empty.grounded_share) == (None,) * 4
    assert (empty.words.spread, empty.refinement, empty.drops, empty.spending) == (None, (), (), ())
    assert empty == summarize([records()], [rejects()])


def test_a_text_of_one_word_is_left_out_of_the_means() -> None:
    short = summarize([records(record("r0", "word"), record("r1", PAIRS))], [])
    assert short.whole.mattr == 0.5
    assert short.whole.records == 2


def test_null_fields_inside_a_row_are_not_counted() -> None:
    person = dict.fromkeys(FIRST["profile"])
    bare = record(
        "r0", profile=person, attributes=[attribute("key", None, grounded=None)], groups=[{"name": None, "keys": None}]
    )
    summary = summarize([records(bare)], [])
    assert summary.profiles.sexes == {}
    assert summary.profiles.non_us_share is None
    assert summary.grounded_share == 0.0
    assert summary.group_size.values == {0: 1}


def test_an_embedding_that_is_no_unit_vector_is_an_error() -> None:
    with pytest.raises(ValueError, match="shard of record r0, embedding row 1"):
        summarize([records(record("r0"), record("r1", PAIRS, (3.0, 4.0)))], [])
