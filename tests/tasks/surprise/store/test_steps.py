from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from tasks.records import SCORE_REJECTS
from tasks.surprise.policy import Unprompted
from tasks.surprise.scored import ScoresUnfit
from tasks.surprise.store.steps import (
    has_groups,
    pieces,
    read_document,
    read_first,
    read_pieces,
    read_scores,
    scores_store,
)
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row, score_table

NOTES: dict[str, Any] = {"reference": {"model": MODEL, "tokenizer_sha256": TOKENIZER}, "prompts": {}}


def commit(root: Path, start: int, rows: list[dict[str, Any]], notes: dict[str, Any] = NOTES) -> None:
    store, shard = scores_store(root, "set"), ShardRange(start, start + len(rows))
    with store.acquire(shard) as lease:
        store.commit(
            shard,
            {"scores": score_table(rows), "score_rejects": SCORE_REJECTS.empty_table()},
            lease,
            len(rows),
            spec_hash="s",
            input_hashes={},
            summary=ShardSummary(notes=notes),
        )


GROUPS = ["ann", None, "ben", "ann", None, "ben", "cid"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    rows = [score_row(index, "abcd", group=name) for index, name in enumerate(GROUPS)]
    commit(tmp_path, 0, rows[:4])
    commit(tmp_path, 4, rows[4:])
    return tmp_path


def test_all_shards_are_read_in_the_order_of_the_input(root: Path) -> None:
    scored = read_scores(root, "set")
    assert scored.ids == [f"d{index}" for index in range(7)]
    assert scored.reference.model == MODEL
    assert scored.batch(Unprompted()).tokens.size == 28


def test_one_document_or_the_first_few_are_read_without_the_others(root: Path) -> None:
    assert read_first(root, "set").ids == ["d0", "d1", "d2", "d3"]
    assert read_document(root, "set", "d5").table.to_pylist() == read_scores(root, "set").take([5]).table.to_pylist()
    assert len(read_document(root, "set", "gone")) == 0


def test_groups_are_seen_wherever_they_are(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert has_groups(root, "set")
    other = tmp_path_factory.mktemp("other")
    commit(other, 0, [score_row(0, "abcd")])
    assert not has_groups(other, "set")


def test_a_piece_holds_whole_groups_from_wherever_they_lie(root: Path) -> None:
    found = list(read_pieces(root, "set", tokens=12))
    assert [piece.ids for piece in found] == [["d0", "d1", "d3"], ["d2", "d4", "d5"], ["d6"]]
    assert {piece.sha256 for piece in found} == {read_scores(root, "set").sha256}


def test_the_hash_is_that_of_the_content(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    commit(other, 0, [score_row(0, "abcd")])
    first = read_scores(other, "set").sha256
    commit(other, 0, [score_row(0, "abce")])
    assert first != read_scores(other, "set").sha256 != read_scores(root, "set").sha256


def test_without_scores_the_command_to_make_them_is_named(tmp_path: Path) -> None:
    for read in (read_scores, lambda *names: list(read_pieces(*names))):
        with pytest.raises(ScoresUnfit, match="privasis surprise score"):
            read(tmp_path, "set")


def test_shards_of_two_prompts_are_no_set(root: Path) -> None:
    commit(root, 7, [score_row(7, "abcd")], NOTES | {"prompts": {"prompted": "P"}})
    with pytest.raises(ScoresUnfit, match="part-00000000-00000004 and part-00000007-00000008"):
        read_scores(root, "set")


def test_shards_that_the_model_read_in_two_ways_are_no_set(tmp_path: Path) -> None:
    reading = {"prefix": [], "context": 64, "stride": 32, "precision": "float32"}
    commit(tmp_path, 0, [score_row(0, "abcd")], NOTES | {"reading": reading})
    commit(tmp_path, 1, [score_row(1, "abcd")], NOTES | {"reading": dict(reading)})
    assert len(read_scores(tmp_path, "set")) == 2
    commit(tmp_path, 2, [score_row(2, "abcd")], NOTES | {"reading": reading | {"precision": "bfloat16"}})
    with pytest.raises(
        ScoresUnfit, match=r"part-00000000-00000001 was read as .*float32.*, part-00000002-00000003 as .*bfloat16"
    ):
        read_scores(tmp_path, "set")


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b", "c", "d"]), st.integers(0, 9)), max_size=30),
    st.integers(1, 20),
)
@settings(max_examples=60, deadline=None)
def test_groups_stay_whole_and_pieces_small(documents: list[tuple[str | None, int]], most: int) -> None:
    groups, sizes = [name for name, _ in documents], np.array([size for _, size in documents], dtype=np.int64)
    found = pieces(groups, sizes, most)
    assert sorted(set(found.tolist())) == list(range(len(set(found.tolist()))))  # no piece is empty
    for name in set(groups) - {None}:
        assert len({piece for piece, group in zip(found, groups, strict=True) if group == name}) == 1
    for piece in set(found.tolist()):
        here = [place for place in range(len(groups)) if found[place] == piece]
        one = len({groups[place] or place for place in here if sizes[place]}) <= 1
        assert one or sizes[here].sum() <= most
