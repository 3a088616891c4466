import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.documents import Label
from tasks.surprise.masking.examples import excerpt
from tasks.surprise.masking.redact import Redaction, kind_of, redact

TEXT = "call Jane at 555-0147 now"


def test_a_span_becomes_a_word_for_its_kind_and_keeps_the_space_before_it() -> None:
    done = redact(TEXT, [(12, 21)], [Label(13, 21, "phone number")], "replace")
    assert done.text == "call Jane at [PHONE_NUMBER] now"
    assert done.redactions == (Redaction(13, 21, "[PHONE_NUMBER]"),)
    assert done.removed == 8


def test_what_no_label_explains_is_redacted_all_the_same() -> None:
    assert redact(TEXT, [(4, 9), (12, 21)], [], "replace").text == "call [REDACTED] at [REDACTED] now"


def test_removal_takes_every_character_of_the_span() -> None:
    assert redact("x = 1\nlog(x)\ny = 2\n", [(6, 13)], [], "remove").text == "x = 1\ny = 2\n"


def test_of_two_labels_the_one_that_shares_more_names_the_kind() -> None:
    assert kind_of(0, 10, [Label(0, 3, "name"), Label(3, 10, "e-mail")]) == "E-MAIL"
    assert kind_of(0, 3, [Label(3, 10, "e-mail")]) == "REDACTED"


def test_overlapping_spans_are_refused() -> None:
    with pytest.raises(ValueError, match="disjoint"):
        redact(TEXT, [(0, 5), (4, 9)], [], "replace")


@given(
    text=st.text(max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=6, unique=True),
)
@settings(max_examples=100, deadline=None)
def test_what_is_not_masked_stays_as_it_is(text: str, cuts: list[int]) -> None:
    bounds = sorted(cut for cut in cuts if cut <= len(text))
    spans = list(zip(bounds[::2], bounds[1::2], strict=False))
    kept = "".join(c for place, c in enumerate(text) if not any(a <= place < b for a, b in spans))
    assert redact(text, spans, [], "remove").text == kept
    replaced = redact(text, spans, [], "replace")
    back, moved = replaced.text, 0
    for each in replaced.redactions:  # putting the original back gives the text
        start = each.start + moved
        assert back[start : start + len(each.replacement)] == each.replacement
        back = back[:start] + text[each.start : each.end] + back[start + len(each.replacement) :]
    assert back == text


def test_an_excerpt_is_one_line_with_its_span_in_brackets() -> None:
    assert excerpt("a\n\x1b[1mpin 4711 ok", [(9, 13)], 0) == "a⏎⟨U+001B⟩[1mpin⟦ 471⟧1 ok"


def test_a_category_of_blanks_names_no_kind() -> None:
    assert redact("Ann", [(0, 3)], [Label(0, 3, "  ")], "replace").text == "[REDACTED]"
