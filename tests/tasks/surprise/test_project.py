import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from tasks.surprise.project import characters, project, touched
from tasks.surprise.spans import Spans
from tests.tasks.surprise.tokenizers_of import bytes_tokenizer, tokens_of

WORDS = [("Ġ", "a"), ("Ġa", "b"), ("a", "b"), ("ab", "c"), ("Ã", "©")]  # Ã and © are the bytes of é


def test_a_downstream_token_that_shares_a_character_with_the_span_is_masked_and_its_neighbours_are_not() -> None:
    texts = ["abc abc"]
    reference = tokens_of(bytes_tokenizer(), texts)
    downstream = tokens_of(bytes_tokenizer(merges=WORDS), texts)
    assert downstream.spans.pairs() == [[(0, 3), (3, 6), (6, 7)]]
    last_of_first, space = np.arange(7) == 2, np.arange(7) == 3
    assert project(reference, last_of_first, downstream).tolist() == [True, False, False]
    assert project(reference, space, downstream).tolist() == [False, True, False]


def test_one_byte_token_of_an_emoji_masks_the_whole_character_and_all_its_bytes() -> None:
    texts = ["x😀y"]
    reference = tokens_of(bytes_tokenizer(), texts)
    second_byte = np.arange(6) == 2
    assert characters(reference, second_byte).pairs() == [[(1, 2)]]
    assert project(reference, second_byte, reference).tolist() == [False, True, True, True, True, False]


def test_a_letter_selected_under_nfc_masks_its_accent_in_a_tokenizer_that_sees_both() -> None:
    texts = ["e\u0301s"]
    reference = tokens_of(bytes_tokenizer(normalizer=normalizers.NFC()), texts)
    downstream = tokens_of(bytes_tokenizer(), texts)
    assert downstream.spans.pairs() == [[(0, 1), (1, 2), (1, 2), (2, 3)]]
    first_byte = np.arange(3) == 0
    assert project(reference, first_byte, downstream).tolist() == [True, True, True, False]


def test_a_lone_space_with_trimmed_offsets_inside_a_secret_is_masked_with_it() -> None:
    texts = ["ab  cd"]
    downstream = tokens_of(bytes_tokenizer(trim=True), texts)
    assert touched(downstream, Spans.of([[(0, 6)]])).all()
    assert project(tokens_of(bytes_tokenizer(), texts), np.ones(6, dtype=np.bool_), downstream).all()


def test_a_downstream_token_for_no_character_is_masked_with_its_neighbour() -> None:
    downstream = tokens_of(bytes_tokenizer(prefix_space=True, trim=True), ["ab"])
    assert touched(downstream, Spans.of([[(0, 1)]])).tolist() == [True, True, False]
    assert touched(downstream, Spans.of([[(1, 2)]])).tolist() == [False, False, True]


def test_what_lies_past_the_cut_of_the_reference_is_not_masked() -> None:
    texts = ["abcd"]
    cut = tokens_of(bytes_tokenizer(), texts, most=2)
    everything = np.ones(2, dtype=np.bool_)
    assert project(cut, everything, tokens_of(bytes_tokenizer(), texts)).tolist() == [True, True, False, False]


def test_touching_tokens_make_one_interval_and_rows_stay_apart() -> None:
    tokens = tokens_of(bytes_tokenizer(), ["abcd", "", "ab"])
    mask = np.array([False, True, True, False, True, False])
    assert characters(tokens, mask).pairs() == [[(1, 3)], [], [(0, 1)]]
    assert characters(tokens, np.zeros(6, dtype=np.bool_)).pairs() == [[], [], []]


@given(data=st.data(), texts=st.lists(st.text(st.sampled_from("abc é😀"), max_size=8), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_projection_is_the_overlap_of_the_intervals(data: st.DataObject, texts: list[str]) -> None:
    reference, downstream = tokens_of(bytes_tokenizer(), texts), tokens_of(bytes_tokenizer(merges=WORDS), texts)
    mask = np.array([data.draw(st.booleans()) for _ in range(reference.size)], dtype=np.bool_)
    chosen = iter(mask.tolist())
    selected = [[pair for pair in row if next(chosen)] for row in reference.spans.pairs()]
    expected = [
        any(max(a, c) < min(b, d) for a, b in row)
        for row, tokens in zip(selected, downstream.spans.pairs(), strict=True)
        for c, d in tokens
    ]
    assert project(reference, mask, downstream).tolist() == expected
