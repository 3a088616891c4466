import pytest

from tasks.line_ends import with_line_ends_of


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\r\nb", "x\ny\n", "x\r\ny\r\n"),
        ("a\r\nb", "x\r\ny\n", "x\r\ny\r\n"),  # what is right already is not doubled
        ("a\rb", "x\ny", "x\ry"),
        ("a\nb", "x\ny", "x\ny"),
        ("a\r\nb\nc", "x\ny", "x\ny"),  # mixed: nothing is known
        ("one line", "x\ny", "x\ny"),
    ],
)
def test_a_text_gets_the_line_ends_of_the_one_before(before: str, after: str, expected: str) -> None:
    assert with_line_ends_of(before, after) == expected
