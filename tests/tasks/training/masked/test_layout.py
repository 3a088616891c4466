from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.rows import offsets_of
from tasks.training.examples import IGNORED
from tasks.training.masked.config import Action
from tasks.training.masked.layout import Ends, rows_of
from tasks.training.masked.mask_file import MaskTable
from tasks.training.masked.rows import Row, RowFile, encoded

ENDS = Ends(before=1, after=2)


def table(lengths: list[int], chats: tuple[int, ...] = (), supervised_of_chats: int = 2) -> MaskTable:
    """Tokens that are all different, from 10 on; of chats the last tokens are supervised."""
    offsets = offsets_of(lengths)
    supervised = np.ones(int(offsets[-1]), dtype=np.bool_)
    for chat in chats:
        supervised[offsets[chat] : offsets[chat + 1] - supervised_of_chats] = False
    is_chat = np.isin(np.arange(len(lengths)), chats)
    names = [f"d{place}" for place in range(len(lengths))]
    return MaskTable(names, np.arange(10, 10 + int(offsets[-1])), offsets, supervised, is_chat, {}, "t")


def lay_out(made: MaskTable, selected: set[int], action: Action, length: int = 8, *, pack: bool = True) -> list[Row]:
    return rows_of(made, np.isin(made.tokens, list(selected)), action, ENDS, length, pack=pack)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(2, 12), st.booleans())
@settings(deadline=None, max_examples=60)
def test_every_supervised_token_is_predicted_exactly_once(lengths: list[int], length: int, pack: bool) -> None:
    made = table(lengths)
    rows = lay_out(made, set(), "loss", length, pack=pack)
    assert all(row.ids.size <= length and sum(row.pieces) == row.ids.size for row in rows)
    learnt = Counter(int(label) for row in rows for label in row.labels if label != IGNORED)
    assert learnt == Counter(made.tokens.tolist() + [2] * len(lengths))  # and the end of each document


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(3, 12))
@settings(deadline=None, max_examples=40)
def test_each_token_is_predicted_from_the_one_before_it(lengths: list[int], length: int) -> None:
    for row in lay_out(table(lengths), set(), "loss", length):
        firsts = np.cumsum([0, *row.pieces[:-1]])
        assert (row.labels[firsts] == IGNORED).all()
        for place in np.flatnonzero(row.labels >= 10):
            assert row.ids[place - 1] in (row.ids[place] - 1, ENDS.before)


def test_of_a_chat_only_what_the_assistant_says_is_learnt_and_no_end_is_added() -> None:
    (row,) = lay_out(table([6], chats=(0,)), set(), "loss")
    assert row.ids.tolist() == [10, 11, 12, 13, 14, 15]
    assert row.labels.tolist() == [IGNORED] * 4 + [14, 15]


def test_a_piece_without_anything_to_learn_is_left_out() -> None:
    rows = lay_out(table([20], chats=(0,), supervised_of_chats=3), set(), "loss", 8, pack=False)
    assert [row.ids.tolist() for row in rows] == [list(range(24, 30))]


SELECTED = {11, 12}


@pytest.mark.parametrize(
    ("action", "weights", "blocked"),
    [
        ("loss", [0, 1, 0, 0, 1, 1], []),
        ("attention", [0, 1, 1, 1, 1, 1], [11, 12]),
        ("both", [0, 1, 0, 0, 1, 1], [11, 12]),
        ("clip", [0, 1, 1, 1, 1, 1], []),
        ("scale", [0, 1, 1, 1, 1, 1], []),
    ],
)
def test_an_action_decides_over_loss_and_attention_and_never_over_labels(
    action: Action, weights: list[float], blocked: list[int]
) -> None:
    (row,) = lay_out(table([4]), SELECTED, action)
    assert row.ids.tolist() == [1, 10, 11, 12, 13, 2]
    assert row.labels.tolist() == [IGNORED, 10, 11, 12, 13, 2]
    assert row.loss_weight.tolist() == weights
    assert row.ids[row.attention_block].tolist() == blocked
    assert row.ids[row.selected].tolist() == [11, 12]


def test_filtering_leaves_out_every_document_that_has_a_selected_token_and_no_other() -> None:
    rows = lay_out(table([4, 4, 4]), {15}, "filter", 100)
    assert sorted(id_ for row in rows for id_ in row.documents) == ["d0", "d2"]
    assert lay_out(table([4]), {11}, "filter") == []


def test_rows_of_all_maskings_hold_the_same_tokens_in_the_same_places() -> None:
    made = table([5, 9, 3, 14, 7])
    plain = lay_out(made, set(), "loss", 16)
    masked = lay_out(made, {12, 20, 33}, "both", 16)
    assert [row.ids.tolist() for row in plain] == [row.ids.tolist() for row in masked]


def test_packing_leaves_little_room() -> None:
    lengths = np.random.default_rng(0).integers(1, 60, 300).tolist()
    rows = lay_out(table(lengths), set(), "loss", 64)
    tokens = sum(row.ids.size for row in rows)
    assert tokens == sum(lengths) + 2 * 300
    assert tokens > 0.9 * 64 * len(rows)


def test_a_file_gives_back_its_rows(tmp_path: Path) -> None:
    rows = lay_out(table([5, 9, 3], chats=(1,)), SELECTED, "both", 10)
    file = tmp_path / "rows.arrow"
    file.write_bytes(encoded(rows))
    read = RowFile(file)
    assert len(read) == len(rows)
    assert read.lengths.tolist() == [row.ids.size for row in rows]
    assert read.supervised.tolist() == [int((row.labels != IGNORED).sum()) for row in rows]
    for place, row in enumerate(rows):
        for name in ("ids", "labels", "loss_weight", "attention_block", "selected"):
            assert getattr(read[place], name).tolist() == getattr(row, name).tolist(), name
        assert (read[place].documents, read[place].pieces) == (row.documents, row.pieces)
