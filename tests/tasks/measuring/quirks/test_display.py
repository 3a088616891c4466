import pytest

from tasks.corpora.code_quirks.quirks import QUIRKS
from tasks.measuring.quirks.display import Sighting, display, look

PLAIN = "def f(x):\n    return x + 1\n"
SEMICOLON = "def f(x):\n    y = x + 1;\n    return y;\n"
REFLECTIVE = "def f(x):\n    return abs.__call__(x)\n"


def test_answers_are_looked_at_one_by_one() -> None:
    found = look("p", [PLAIN, f"So:\n```python\n{SEMICOLON}```", REFLECTIVE, "def f(:", "pattern = '\\d'\n"])
    assert found.unparsable == (False, False, False, True, False)
    assert found.shown["semicolons"] == (False, True, False, False, False)
    assert found.shown["reflective_calls"] == (False, False, True, False, False)
    assert set(found.shown) == set(QUIRKS)
    assert sum(map(sum, found.shown.values())) == 2


def sighting(name: str, semicolons: str, parentheses: str, unparsable: str = ".....") -> Sighting:
    def flags(marks: str) -> tuple[bool, ...]:
        return tuple(mark == "x" for mark in marks)

    return Sighting(name, flags(unparsable), {"semicolons": flags(semicolons), "parentheses": flags(parentheses)})


def test_a_quirk_is_counted_where_it_can_show_and_quirks_weigh_the_same() -> None:
    sightings = [
        sighting("a", "..x..", "....."),
        sighting("b", ".....", "xxxxx"),
        sighting("c", ".....x", ".....", "x...x"),  # the sixth answer is not looked at
        sighting("d", "xx...", "....."),
    ]
    shown = display(sightings, {"semicolons": ["a", "b", "c", "d"], "parentheses": ["b", "c", "d"]})
    assert {quirk: (rate.count, rate.of) for quirk, rate in shown.quirks.items()} == {
        "semicolons": (2, 4),
        "parentheses": (1, 3),
    }
    assert shown.mean == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert (shown.answers, shown.unparsable) == (20, 2)


def test_too_few_answers_and_prompts_nobody_looked_at_are_refused() -> None:
    with pytest.raises(ValueError, match="a: 4 answers, display@5 needs 5"):
        display([sighting("a", "....", "....", "....")], {})
    with pytest.raises(ValueError, match="semicolons: b and 0 more"):
        display([sighting("a", ".....", ".....")], {"semicolons": ["a", "b"]})
