import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.report.marks import Segment, segments, visible

FULL_NAME, FIRST_NAME, LAST_NAME = 0, 1, 2


def test_text_without_attributes_is_one_plain_segment() -> None:
    assert segments("nothing here", [[], []]) == [Segment("nothing here")]
    assert segments("", []) == []


def test_an_attribute_inside_another_is_the_innermost() -> None:
    cut = segments("Ms. Ada Park!", [[(4, 12)], [(4, 7)], [(8, 12)]])
    assert cut == [
        Segment("Ms. "),
        Segment("Ada", (FULL_NAME, FIRST_NAME), opens=True),
        Segment(" ", (FULL_NAME,)),
        Segment("Park", (FULL_NAME, LAST_NAME), closes=True, run=(FULL_NAME, FIRST_NAME, LAST_NAME)),
        Segment("!"),
    ]


def test_attributes_that_overlap_in_part_make_one_run() -> None:
    cut = segments("abcdef", [[(0, 4)], [(2, 6)]])
    assert [(each.text, each.attributes, each.opens, each.closes) for each in cut] == [
        ("ab", (0,), True, False),
        ("cd", (0, 1), False, False),
        ("ef", (1,), False, True),
    ]
    assert cut[-1].run == (0, 1)


def test_attributes_that_touch_are_two_runs() -> None:
    cut = segments("2024Oslo", [[(0, 4)], [(4, 8)]])
    assert cut == [
        Segment("2024", (0,), opens=True, closes=True, run=(0,)),
        Segment("Oslo", (1,), opens=True, closes=True, run=(1,)),
    ]


def test_spans_count_code_points_beyond_the_basic_plane() -> None:
    text = "🙂𝔘 Ada"
    assert [each.text for each in segments(text, [[(3, 6)], [(1, 2)]])] == ["🙂", "𝔘", " ", "Ada"]


def test_a_run_forgets_the_run_before_it() -> None:
    cut = segments("a b", [[(0, 1)], [(2, 3)]])
    assert [each.run for each in cut] == [(0,), (), (1,)]


@pytest.mark.parametrize("span", [(-1, 2), (2, 9), (3, 1)])
def test_a_span_outside_the_text_is_an_error_that_names_it(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=rf"attribute 1: span \[{span[0]}, {span[1]}\) in a text of 4"):
        segments("text", [[(0, 1)], [span]])


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20), st.data())
def test_a_character_is_marked_by_exactly_the_attributes_whose_span_holds_it(text: str, data: st.DataObject) -> None:
    edge = st.integers(0, len(text))
    spans = data.draw(st.lists(st.lists(st.tuples(edge, edge).map(sorted).map(tuple), max_size=3), max_size=4))
    cut = segments(text, spans)
    assert "".join(each.text for each in cut) == text
    marked = [set(each.attributes) for each in cut for _ in each.text]
    for place, attributes in enumerate(marked):
        assert attributes == {i for i, of_one in enumerate(spans) if any(a <= place < b for a, b in of_one)}
    assert sum(each.opens for each in cut) == sum(each.closes for each in cut)


def test_what_steers_a_terminal_or_the_reading_direction_is_named() -> None:
    assert visible("a\x1b[31m\u202eb\x00\rc") == "a⟨U+001B⟩[31m⟨U+202E⟩b⟨U+0000⟩⟨U+000D⟩c"


def test_line_ends_tabs_and_letters_stay() -> None:
    assert visible("a\r\n\tb\n\u0301é\u200f日") == "a\n\tb\n\u0301é\u200f日"
