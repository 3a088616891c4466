import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from tasks.surprise.offsets import code_points, cover
from tasks.surprise.rows import offsets_of
from tests.tasks.surprise.tokenizers_of import bytes_tokenizer, tokens_of

Pairs = list[tuple[int, int]]


def covered(rows: list[Pairs], lengths: list[int]) -> list[Pairs]:
    pairs = np.array([pair for row in rows for pair in row], dtype=np.int64).reshape(-1, 2)
    return cover(pairs[:, 0], pairs[:, 1], offsets_of([len(row) for row in rows]), np.array(lengths)).pairs()


def test_the_byte_tokens_of_a_character_all_stand_for_all_of_it() -> None:
    assert tokens_of(bytes_tokenizer(), ["a😀b"]).spans.pairs() == [[(0, 1), *[(1, 2)] * 4, (2, 3)]]


def test_the_mark_that_nfc_swallows_belongs_to_both_bytes_of_its_letter() -> None:
    tokenizer = bytes_tokenizer(normalizer=normalizers.NFC())
    assert tokens_of(tokenizer, ["e\u0301s e\u0301"]).spans.pairs() == [
        [(0, 2), (0, 2), (2, 3), (3, 4), (4, 6), (4, 6)]  # the second at the very end of the text
    ]


def test_a_lone_space_with_trimmed_offsets_stands_for_the_gap_it_was_in() -> None:
    tokenizer = bytes_tokenizer(trim=True)
    code = tokenizer.encode("ab  c ")
    assert code.offsets == [(0, 1), (1, 2), (3, 3), (4, 4), (4, 5), (6, 6)]
    assert tokens_of(tokenizer, ["ab  c "]).spans.pairs() == [[(0, 1), (1, 4), (2, 4), (2, 4), (4, 6), (5, 6)]]
    assert covered([[(0, 2), (0, 0), (3, 4)]], [4]) == [[(0, 3), (2, 3), (3, 4)]]  # reported as (0, 0)


def test_a_token_for_no_character_stands_for_its_neighbours() -> None:
    tokenizer = bytes_tokenizer(prefix_space=True, trim=True)
    assert tokenizer.encode("ab").offsets == [(0, 0), (0, 1), (1, 2)]
    assert tokens_of(tokenizer, ["ab"]).spans.pairs() == [[(0, 1), (0, 1), (1, 2)]]
    assert covered([[(0, 1), (0, 0), (1, 3), (3, 3)]], [3]) == [[(0, 1), (0, 3), (1, 3), (1, 3)]]


def test_white_space_that_a_normaliser_strips_belongs_to_the_first_and_last_token() -> None:
    tokenizer = bytes_tokenizer(normalizer=normalizers.Strip())
    assert tokens_of(tokenizer, ["  ab "]).spans.pairs() == [[(0, 3), (3, 5)]]


def test_a_cut_text_is_covered_to_the_cut_only() -> None:
    assert tokens_of(bytes_tokenizer(), ["abcdef"], most=2).spans.pairs() == [[(0, 1), (1, 2)]]


def test_repairs_do_not_reach_into_other_rows() -> None:
    rows: list[Pairs] = [[(1, 2), (0, 0)], [], [(0, 0)], [(0, 0), (2, 3)]]
    assert covered(rows, [5, 0, 4, 6]) == [[(0, 5), (2, 5)], [], [(0, 4)], [(0, 2), (0, 6)]]


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_character_is_left_out_and_nothing_is_taken_from_a_token(data: st.DataObject) -> None:
    rows, lengths = [], []
    for _ in range(data.draw(st.integers(1, 3))):
        bounds = sorted(data.draw(st.lists(st.integers(0, 9), max_size=8)))
        real = [(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False) if a < b]
        row = [pair for pair in real for _ in range(data.draw(st.integers(1, 2)))]
        for _ in range(data.draw(st.integers(0, 3))):
            row.insert(data.draw(st.integers(0, len(row))), data.draw(st.sampled_from([(0, 0), (5, 5)])))
        rows.append(row)
        lengths.append(max([end for _, end in row], default=0) + data.draw(st.integers(0, 2)))
    for before, after, length in zip(rows, covered(rows, lengths), lengths, strict=True):
        reached = {place for start, end in after for place in range(start, end)}
        assert reached == (set(range(length)) if before else set())
        assert all(start < end for start, end in after) or length == 0
        assert sorted(start for start, _ in after) == [start for start, _ in after]
        assert sorted(end for _, end in after) == [end for _, end in after]
        for (a, b), (c, d) in zip(before, after, strict=True):
            assert a == b or (c <= a and b <= d)


def test_offsets_out_of_order_or_past_the_text_are_refused_by_place() -> None:
    with pytest.raises(ValueError, match=r"row 1, token 1: \[0, 1\) stands before the token that precedes it"):
        covered([[(0, 1)], [(3, 4), (0, 1)]], [1, 9])
    with pytest.raises(ValueError, match=r"row 0, token 0: \[0, 8\) ends after the 7 code points"):
        covered([[(0, 8)]], [7])
    with pytest.raises(ValueError, match=r"row 0, token 1: \[4, 2\) is no interval"):
        covered([[(0, 1), (4, 2)]], [7])


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("utf-8", [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (0, 4), (2, 2), (4, 4)]),
        ("utf-16", [(0, 1), (1, 2), (2, 3), (2, 3), (3, 4), (0, 4), (1, 1), (4, 4)]),
    ],
)
def test_bytes_and_utf16_units_become_code_points_and_parts_of_a_character_the_whole(
    unit: str, expected: Pairs
) -> None:
    text = "aé😀b"  # 1, 2, 4 and 1 bytes; 1, 1, 2 and 1 units
    given_in = {
        "utf-8": [(0, 1), (1, 3), (2, 3), (4, 6), (7, 8), (0, 8), (5, 5), (8, 8)],
        "utf-16": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 1), (5, 5)],
    }[unit]
    pairs = np.array(given_in)
    start, end = code_points(text, pairs[:, 0], pairs[:, 1], "utf-8" if unit == "utf-8" else "utf-16")
    assert list(zip(start.tolist(), end.tolist(), strict=True)) == expected


@given(text=st.text(st.characters(), max_size=12))
@settings(max_examples=100, deadline=None)
def test_each_code_point_is_found_from_its_bytes_and_units(text: str) -> None:
    for unit, encoding, size in (("utf-8", "utf-8", 1), ("utf-16", "utf-16-le", 2)):
        widths = [len(letter.encode(encoding, "surrogatepass")) // size for letter in text]
        bounds = offsets_of(widths)
        start, end = code_points(text, bounds[:-1], bounds[1:], "utf-8" if unit == "utf-8" else "utf-16")
        assert start.tolist() == list(range(len(text)))
        assert end.tolist() == list(range(1, len(text) + 1))


def test_an_offset_past_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="an interval ends at 4, but the text has 3 utf-8 units"):
        code_points("aé", np.array([0]), np.array([4]), "utf-8")
