import pyarrow as pa
import pytest

from tasks.surprise.masking.gather import Gathering


def piece(*index: int) -> pa.Table:
    return pa.table(
        {"index": pa.array(index, pa.int64()), "name": pa.array([f"d{each}" for each in index], pa.string())}
    )


def test_a_shard_comes_out_once_and_whole_and_in_order_however_its_rows_are_dealt_out() -> None:
    gathering = Gathering({(0, 4): 3, (8, 12): 2})  # row 2 was not scored, and 4 to 7 are not wanted
    assert list(gathering.add(piece(1, 5, 8))) == []
    ((first, table),) = gathering.add(piece(0, 3, 4))
    assert (first, table["name"].to_pylist()) == ((0, 4), ["d0", "d1", "d3"])
    ((second, table),) = gathering.add(piece(6, 11))
    assert (second, table["name"].to_pylist()) == ((8, 12), ["d8", "d11"])
    assert list(gathering.add(piece(7))) == []


def test_a_shard_of_which_nothing_was_scored_is_written_too() -> None:
    ((bounds, table),) = Gathering({(4, 8): 0}).add(piece(1))
    assert (bounds, table.num_rows, table.column_names) == ((4, 8), 0, ["index", "name"])


def test_more_rows_than_were_scored_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"rows \[0, 4\): 1 more"):
        list(Gathering({(0, 4): 1}).add(piece(0, 1)))
