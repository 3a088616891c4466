from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.cleaning.diff import Change, changes


def test_a_replaced_a_dropped_and_an_added_stretch_are_one_change_each() -> None:
    before = "Dr. Amina Karim came on Monday, by bus."
    after = "The doctor came, by a bus."
    assert changes(before, after) == [
        Change(0, 15, "Dr. Amina Karim", "The doctor"),
        Change(21, 30, "on Monday", ""),
        Change(34, 34, "", "a"),
    ]


def test_white_space_is_no_difference() -> None:
    assert changes("a  b\n\nc", "a b c") == []


TEXTS = st.text(alphabet="ab1 .\n王", max_size=30)


@given(TEXTS, TEXTS)
@settings(max_examples=60, deadline=None)
def test_changes_stand_where_they_say_and_putting_them_in_gives_the_text_after(before: str, after: str) -> None:
    made, done = list[str](), 0
    for change in changes(before, after):
        assert before[change.start : change.stop] == change.before
        assert change.start >= done
        made += [before[done : change.start], " ", change.after, " "]
        done = change.stop
    made.append(before[done:])
    assert "".join("".join(made).split()) == "".join(after.split())
