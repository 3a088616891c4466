"""What is kept: the least like the targets by ROUGE-L, and never what is entangled with one."""

import pytest

from tasks.sanitization.retention import choose_retained, overlap, rouge_l
from tasks.sanitization.targets import Target
from tests.tasks.sanitization.records import LETTER, attribute, source

ADDRESS = Target("address", (attribute("home_address", "Rua das Flores 12"),), False, "drop", 5.0)
PLACES = Target("places", (attribute("city", "Porto"), attribute("bill", "240 euros")), True, "drop", 5.0)


def test_rouge_l_is_the_f1_of_the_longest_common_subsequence() -> None:
    # "the cat sat" of 3 words and "the sat down now" of 4 share "the sat": P = 2/4, R = 2/3, F1 = 2PR/(P+R) = 4/7.
    assert rouge_l("the cat sat", "the sat down now") == pytest.approx(4 / 7)
    assert rouge_l("Ana", "ana") == 1


def test_rouge_l_knows_scripts_other_than_latin() -> None:
    assert rouge_l("城市 北京", "城市 上海") == pytest.approx(0.5)  # two of four letters


def test_the_overlap_is_the_largest_with_any_attribute_of_any_target() -> None:
    bill = attribute("clinic_bill", "240 euros")
    assert overlap(bill, [ADDRESS]) == 0
    assert overlap(bill, [ADDRESS, PLACES]) == pytest.approx(2 * 1 * 0.75 / 1.75)  # "bill 240 euros" within four words


def test_the_least_alike_are_kept_first() -> None:
    facts = {"home_city": "Porto", "medicine": "ibuprofen", "home_address": "Rua das Flores 12", "sister": "Marta"}
    kept = choose_retained(source(facts=facts, groups={}), [ADDRESS], LETTER, 3)
    assert [each.key for each in kept] == ["medicine", "sister", "home_city"]


def test_what_shares_a_value_or_a_place_with_a_target_is_never_kept() -> None:
    facts = {"street": "Rua das Flores", "house": "12", "sender": "to Rua", "number": "flores 12", "sister": "Marta"}
    kept = choose_retained(source(facts=facts, groups={}), [ADDRESS], LETTER, 5)
    assert [each.key for each in kept] == ["sister"]


def test_what_is_called_like_a_target_is_never_kept_for_the_request_would_ask_for_both() -> None:
    facts = {"home_address_2": "Porto", "sister": "Marta"}
    kept = choose_retained(source(facts=facts, groups={}), [ADDRESS], LETTER, 5)
    assert [each.key for each in kept] == ["sister"]


def test_what_was_lost_on_the_way_is_not_asked_for() -> None:
    kept = choose_retained(source(), [ADDRESS], LETTER.replace("Marta", "she"), 9)
    assert "sister" not in [each.key for each in kept]
    assert "medicine" in [each.key for each in kept]


def test_a_value_under_two_keys_is_kept_once_and_there_may_be_nothing_to_keep() -> None:
    twice = source(facts={"sister": "Marta", "driver": "marta"}, groups={})
    assert [each.key for each in choose_retained(twice, [ADDRESS], LETTER, 3)] == ["sister"]
    assert choose_retained(source(facts={"home_address": "Rua das Flores 12"}, groups={}), [ADDRESS], LETTER, 3) == ()
