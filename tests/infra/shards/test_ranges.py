import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.shards.ranges import ShardRange, cover


def test_a_name_tells_its_range_and_sorts_like_it() -> None:
    shards = [ShardRange(512, 1024), ShardRange(0, 512), ShardRange(1024, 1300)]
    assert [shard.name for shard in sorted(shards)] == sorted(shard.name for shard in shards)
    assert ShardRange(0, 512).name == "part-00000000-00000512"
    assert ShardRange.parse("part-00000512-00001024") == ShardRange(512, 1024)
    assert ShardRange.parse(ShardRange(123456789, 1234567890).name) == ShardRange(123456789, 1234567890)


@pytest.mark.parametrize(
    "name",
    ["part-0-512", "part-00000000-00000512.json", "part-000000000-00000512", "part-00000512-00000512", "../x", ""],
)
def test_what_no_shard_would_call_itself_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"shard|range"):
        ShardRange.parse(name)
    assert ShardRange.of_file(f"{name}.json", ".json") is None


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 3), (4, 3)])
def test_an_impossible_range_cannot_be_made(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match=f"{start}..{stop}"):
        ShardRange(start, stop)


def test_rows_are_cut_at_multiples_of_the_size() -> None:
    assert cover(ShardRange(0, 1300), [], [], 512) == [
        ShardRange(0, 512),
        ShardRange(512, 1024),
        ShardRange(1024, 1300),
    ]


def test_a_larger_count_on_resume_moves_nothing() -> None:
    done = cover(ShardRange(0, 1300), [], [], 512)
    assert cover(ShardRange(0, 2000), done, [], 512) == [ShardRange(1300, 1536), ShardRange(1536, 2000)]


def test_a_begun_shard_is_kept_although_the_size_has_changed() -> None:
    begun = [ShardRange(512, 1024)]
    assert cover(ShardRange(0, 1100), [], begun, 300) == [
        ShardRange(0, 300),
        ShardRange(300, 512),
        ShardRange(512, 1024),
        ShardRange(1024, 1100),
    ]


def test_a_begun_shard_is_cut_where_fewer_rows_are_wanted() -> None:
    assert cover(ShardRange(0, 600), [ShardRange(0, 512)], [ShardRange(512, 1024)], 512) == [ShardRange(512, 600)]


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        cover(ShardRange(0, 1), [], [], 0)


ranges = st.builds(lambda start, length: ShardRange(start, start + length), st.integers(0, 60), st.integers(1, 30))


@settings(max_examples=200, deadline=None)
@given(wanted=ranges, marks=st.lists(ranges, max_size=6), opened=st.lists(ranges, max_size=6), size=st.integers(1, 40))
def test_a_cover_is_disjoint_and_exact_and_leaves_committed_rows_alone(
    wanted: ShardRange, marks: list[ShardRange], opened: list[ShardRange], size: int
) -> None:
    committed = [shard for n, shard in enumerate(marks) if not any(shard.overlaps(other) for other in marks[:n])]
    shards = cover(wanted, committed, opened, size)
    rows = [row for shard in shards for row in range(shard.start, shard.stop)]
    taken = {row for shard in committed for row in range(shard.start, shard.stop)}
    assert rows == sorted(set(range(wanted.start, wanted.stop)) - taken)
    for shard in set(shards) - set(opened):  # new ones lie between two multiples of the size
        assert shard.start // size == (shard.stop - 1) // size
    free = set(rows)
    for shard in opened:
        alone = not any(shard != other and shard.overlaps(other) for other in opened)
        if alone and free.issuperset(range(shard.start, shard.stop)):
            assert shard in shards
