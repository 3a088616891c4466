"""Targets: drawn by weight without replacement, as often groups as asked, always the same from the same seed."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import orjson
import pytest

from infra.llm.fake import FakeBackend
from tasks.ask import StepFailed
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.source import Source
from tasks.sanitization.targets import COUNT_SHARES, Target, draw_targets, in_words, weigh
from tasks.synthesis.attributes import Group
from tasks.synthesis.seeds import rng
from tests.tasks.sanitization.records import FACTS, source
from tests.tasks.synthesis.chance import fit
from tests.tasks.synthesis.script import asker

DRAWS = 3_000
SINGLES = SanitizationConfig(group_share=0)
EQUAL = dict.fromkeys(FACTS, 1.0)


def drawn(
    number: int, of: Source, weights: dict[str, float], config: SanitizationConfig = SINGLES
) -> tuple[Target, ...]:
    return draw_targets(of, weights, config, rng(1, f"r-{number}", "targets"))


def many(of: Source, weights: dict[str, float], config: SanitizationConfig = SINGLES) -> list[tuple[Target, ...]]:
    return [drawn(number, of, weights, config) for number in range(DRAWS)]


def test_the_first_target_is_drawn_in_proportion_to_its_weight() -> None:
    weights = {key: float(weight) for weight, key in enumerate(FACTS, 1)}
    counts = Counter(targets[0].attributes[0].key for targets in many(source(), weights))
    assert fit([counts[key] for key in FACTS], list(weights.values()))


def test_the_second_is_drawn_by_weight_among_those_left() -> None:
    three = source(facts={"name": "Ana Lima", "file_number": "4471", "sister": "Marta"}, groups={})
    weights = {"name": 6.0, "file_number": 3.0, "sister": 1.0}
    orders = Counter(
        tuple(target.attributes[0].key for target in targets[:2])
        for targets in many(three, weights)
        if len(targets) > 1
    )
    pairs = list(permutations(weights, 2))
    shares = [weights[a] / 10 * weights[b] / (10 - weights[a]) for a, b in pairs]  # successive sampling
    assert fit([orders[pair] for pair in pairs], shares)


def test_a_record_has_one_to_five_targets_and_2_9_on_average() -> None:
    counts = Counter(len(targets) for targets in many(source(), EQUAL))
    assert fit([counts[count] for count in range(1, 6)], COUNT_SHARES)
    assert sum(count * share for count, share in enumerate(COUNT_SHARES, 1)) == pytest.approx(2.9)
    assert sum(COUNT_SHARES) == pytest.approx(1)


@pytest.mark.parametrize("share", [0.6, 0.25])
def test_a_target_is_a_group_and_is_abstracted_as_often_as_configured(share: float) -> None:
    config = SanitizationConfig(group_share=share, abstract_share=share)
    firsts = [targets[0] for targets in many(source(), EQUAL, config)]
    groups = sum(target.is_group for target in firsts)
    assert fit([groups, DRAWS - groups], [share, 1 - share])
    abstracted = sum(target.label == "abstract" for target in firsts)
    assert fit([abstracted, DRAWS - abstracted], [share, 1 - share])


def test_no_two_targets_share_a_value() -> None:
    twice = source(facts=FACTS | {"patient": "ANA LIMA"}, groups={"a": ("name", "bill"), "b": ("bill", "sister")})
    for targets in many(twice, EQUAL | {"patient": 1.0}, SanitizationConfig())[:500]:
        values = [value.casefold() for target in targets for value in target.values]
        assert len(values) == len(set(values))


def test_a_group_weighs_as_much_as_its_members_do_on_average() -> None:
    weights = EQUAL | {"name": 9.0, "file_number": 5.0, "clinic_city": 2.0, "address": 1.0}
    targets = many(source(), weights, SanitizationConfig(group_share=1))
    counts = Counter(target[0].name for target in targets)
    assert fit([counts["who she is"], counts["places"]], [7.0, 1.5])


def test_the_same_record_and_seed_have_the_same_targets_and_others_have_others() -> None:
    config = SanitizationConfig()
    assert drawn(1, source(), EQUAL, config) == drawn(1, source(), EQUAL, config)
    assert len({drawn(number, source(), EQUAL, config) for number in range(20)}) > 10


async def test_the_weights_of_all_attributes_are_asked_in_one_call() -> None:
    weights = dict(zip(FACTS, range(1, 9), strict=True))
    backend = FakeBackend(lambda _: orjson.dumps(weights).decode())
    assert await weigh(asker(backend), source().attributes, 0) == weights
    (request,) = backend.requests
    assert all(value in request.messages[-1].content for value in FACTS.values())


@pytest.mark.parametrize("bad", [0, 11, 2.5, "3"])
async def test_a_weight_out_of_range_is_asked_again_and_never_bent(bad: object) -> None:
    backend = FakeBackend(lambda _: orjson.dumps(dict.fromkeys(FACTS, 1) | {"bill": bad}).decode())
    with pytest.raises(StepFailed, match="bill"):
        await weigh(asker(backend), source().attributes, 0)
    assert len(backend.requests) == 3


def test_what_a_request_would_call_the_same_goes_together() -> None:
    alike = source(facts={"sister": "Marta", "sister_2": "Porto", "bill": "240 euros"}, groups={})
    weights = {"sister": 5.0, "sister_2": 5.0, "bill": 1.0}
    for targets in many(alike, weights)[:300]:
        members = {target.name: [each.key for each in target.attributes] for target in targets}
        assert members.get("sister", ["sister", "sister_2"]) == ["sister", "sister_2"]
        assert set(members) <= {"sister", "bill"}


def test_a_later_group_is_what_earlier_targets_have_left_of_it_and_there_are_as_many_groups_as_asked_for() -> None:
    """Each group shares a member with each other, as the name of a person stands in most groups of a real record."""
    keys = [key for key in FACTS if key != "name"]
    groups = {f"group {place}": ("name", *keys[place : place + 2]) for place in range(0, 6, 2)}
    wanted = SanitizationConfig(group_share=1)
    for targets in many(source(groups=groups), EQUAL, wanted)[:300]:
        sizes = [len(target.attributes) for target in targets if target.is_group]
        assert sizes == [3, 2, 2][: len(targets)]
    few = [
        targets for targets in many(source(groups=groups), EQUAL, SanitizationConfig()) if len(targets) <= len(groups)
    ]
    kinds = Counter(target.is_group for targets in few for target in targets)
    assert fit([kinds[True], kinds[False]], [0.6, 0.4])


def test_two_targets_are_never_called_the_same() -> None:
    twins = source(groups={}, facts=FACTS)
    groups = (Group("places", ("clinic_city", "address")), Group("Places", ("sister", "bill")))
    for targets in many(replace(twins, groups=groups), EQUAL, SanitizationConfig(group_share=1))[:100]:
        names = [target.name.casefold() for target in targets]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("visit_date", "visit date"),
        ("visit_date_12", "visit date"),
        ("name_2_0", "name"),
        ("line_2_text", "line 2 text"),
    ],
)
def test_a_key_in_words_has_no_number_that_only_tells_it_from_others(key: str, words: str) -> None:
    assert in_words(key) == words
