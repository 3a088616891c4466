from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.corpora.corpus import corpus_of, split_by
from tasks.corpora.rows import Placed, Reject, Row, Rows
from tasks.surprise.documents import Document, Interval


class Thing(Row):
    id: str
    end: int


def made(placed: Placed[Thing]) -> Document:
    return Document(placed.row.id, "text", supervised=(Interval(0, placed.row.end),))


def test_rows_that_make_no_document_are_rejects() -> None:
    rows = [Placed(n, f"line {n}", Thing(id=name, end=end)) for n, (name, end) in enumerate([("a", 4), ("b", 9)])]
    corpus = corpus_of(Rows(rows, [Reject("line 9", "before")]), made)
    assert [document.id for document in corpus.documents] == ["a"]
    assert [reject.place for reject in corpus.rejects] == ["line 9", "line 1"]
    assert "ends after the text" in corpus.rejects[1].reason


def test_of_two_rows_with_one_id_the_first_is_kept() -> None:
    rows = [Placed(n, f"line {n}", Thing(id="a", end=end)) for n, end in enumerate([1, 2])]
    corpus = corpus_of(Rows(rows, []), made)
    assert [document.supervised for document in corpus.documents] == [(Interval(0, 1),)]
    assert corpus.rejects == [Reject("line 1", "id 'a' was given to a row before: ids are unique")]


def in_repositories(sizes: Sequence[int]) -> list[Document]:
    return [
        Document(f"{repository}/{number}", "text", strata={"repository": str(repository)})
        for repository, size in enumerate(sizes)
        for number in range(size)
    ]


@given(st.lists(st.integers(1, 30), min_size=2, max_size=12), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_no_repository_is_on_both_sides_and_no_document_is_lost(sizes: list[int], seed: int) -> None:
    documents = in_repositories(sizes)
    split = split_by(documents, lambda document: document.strata["repository"], seed)
    sides = [{document.strata["repository"] for document in side} for side in (split.validation, split.application)]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]
    assert sorted(d.id for d in [*split.validation, *split.application]) == sorted(d.id for d in documents)
    # One repository more or less would not come nearer to half by more than its own size.
    assert abs(len(split.validation) - len(documents) / 2) <= max(sizes)


def test_the_seed_decides() -> None:
    documents = in_repositories([5] * 12)

    def chosen(seed: int) -> list[str]:
        split = split_by(documents, lambda document: document.strata["repository"], seed)
        return [document.id for document in split.validation]

    assert chosen(1) == chosen(1)
    assert len({tuple(chosen(seed)) for seed in range(5)}) > 1
    assert len(chosen(1)) == 30


def test_one_repository_cannot_be_split() -> None:
    with pytest.raises(ValueError, match="two units are needed"):
        split_by(in_repositories([3]), lambda document: document.strata["repository"], 0)
