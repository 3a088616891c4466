"""What became of a text, by target: the pieces are the two texts, and each change is its target's."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from infra.llm.fake import FakeBackend
from tasks.sanitization.changes import Change, Piece, changes
from tests.tasks.sanitization.script import honest
from tests.tasks.sanitization.test_chain import chain_of, numbered, triplet_of


def one(
    before: str, *edits: tuple[int, str], kept: tuple[str, ...] = (), again: tuple[tuple[int, str], ...] = ()
) -> Change:
    """Return the changes of a text of one chunk; ``again`` are edits of second passes."""
    targets: list[dict[str, Any]] = [{"passes": []} for _ in range(3)]
    for number, after in (*edits, *again):
        targets[number]["passes"].append({"edits": [{"chunk": 0, "after": after}]})
    final = [*edits, *again][-1][1] if edits else before
    row = {
        "text": before,
        "chunks": [{"start": 0, "stop": len(before), "sanitized": final}],
        "targets": targets,
        "retained": [{"value": value} for value in kept],
    }
    (change,) = changes(row)
    return change


def test_what_is_written_instead_has_the_colour_of_what_it_replaces() -> None:
    change = one("I saw Ana Lima in Porto.", (0, "I saw a friend in Porto."), (1, "I saw a friend in a town."))
    assert [(piece.text, piece.target) for piece in change.before] == [
        ("I saw ", None),
        ("Ana Lima", 0),
        (" in ", None),
        ("Porto", 1),
        (".", None),
    ]
    assert [(piece.text, piece.target) for piece in change.after if piece.target is not None] == [
        ("a friend", 0),
        ("a town", 1),
    ]


def test_what_is_taken_out_leaves_a_gap() -> None:
    assert one("I saw Ana Lima today.", (2, "I saw today.")).after == (Piece("I saw"), Piece("", 2), Piece(" today."))
    assert one("today, Ana", (2, "today,")).after == (Piece("today,"), Piece("", 2))
    assert one("Ana Lima", (0, "")).after == (Piece("", 0),)
    assert one("Paid: $5\n\nBye", (1, "Paid:\n\nBye")).after == (Piece("Paid:"), Piece("", 1), Piece("\n\nBye"))


def test_what_a_later_edit_takes_of_what_an_earlier_one_wrote_is_nobody_s_loss() -> None:
    change = one("Ana came.", (0, "A woman came."), (1, "A person came."))
    assert change.before == (Piece("Ana", 0), Piece(" came."))
    assert change.after == (Piece("A", 0), Piece(" "), Piece("person", 1), Piece(" came."))


def test_second_passes_come_after_the_first_ones_of_all() -> None:
    change = one("Ana Rui", (0, "Ana X"), (1, "Una X"), again=((0, "Y X"),))
    assert change.after == (Piece("Y X", 0),)
    assert [(piece.text, piece.target) for piece in change.before] == [("Ana", 1), (" ", None), ("Rui", 0)]


def test_what_is_kept_is_marked_on_both_sides_and_never_where_something_changed() -> None:
    change = one("Marta saw Ana. MARTA left.", (0, "Marta saw her. MARTA left."), kept=("Marta", "her"))
    assert [piece.text for piece in change.before if piece.kept] == ["Marta", "MARTA"]
    assert [piece.text for piece in change.after if piece.kept] == ["Marta", "MARTA"]


def test_a_chunk_that_no_target_touched_is_one_plain_piece() -> None:
    assert one("Nothing here.") == Change((Piece("Nothing here."),), (Piece("Nothing here."),))
    assert one("") == Change((), ())


WORDS = st.lists(st.sampled_from(["Ana", "Rui,", " ", "\n", "a", "é", "e\u0301", "🇩🇪", "x.", "北京"]), max_size=12).map(
    "".join
)


@given(WORDS, st.dictionaries(st.integers(0, 2), WORDS))
@settings(max_examples=150, deadline=None)
def test_the_pieces_joined_are_the_texts(before: str, edits: dict[int, str]) -> None:
    change = one(before, *sorted(edits.items()))
    last = sorted(edits.items())[-1][1] if edits else before
    assert "".join(piece.text for piece in change.before) == before
    assert "".join(piece.text for piece in change.after) == last
    assert all(piece.text or piece.target is not None for piece in (*change.before, *change.after))


async def test_the_rows_of_the_chain_can_be_shown() -> None:
    for number in range(6):
        triplet = await triplet_of(chain_of(FakeBackend(honest)), numbered(number))
        shown = changes(triplet.row())
        assert "".join(piece.text for change in shown for piece in change.before) == triplet.text
        assert "".join(piece.text for change in shown for piece in change.after) == "".join(triplet.sanitized)
        touched = {piece.target for change in shown for piece in change.before if piece.target is not None}
        assert touched == {number for number, works in enumerate(triplet.passes) if works[0].edits}
