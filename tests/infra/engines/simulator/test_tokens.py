import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.engines.simulator.tokens import count_tokens, cut_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("one two\n three", 3),
        ("Don't pay $5.", 7),  # Don ' t pay $ 5 .
        ('{"a": [1, 2]}', 11),  # { " a " : [ 1 , 2 ] }
        ("서울", 1 + 2),  # one run of six bytes for two characters
        ("Köln", 1 + 0),
    ],
)
def test_words_and_marks_are_counted(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(codec="utf-8")), st.integers(0, 30))
def test_a_cut_text_is_the_longest_beginning_within_the_limit(text: str, limit: int) -> None:
    cut = cut_tokens(text, limit)
    assert text.startswith(cut)
    assert count_tokens(cut) <= limit
    assert cut == text or count_tokens(text[: len(cut) + 1]) > limit
