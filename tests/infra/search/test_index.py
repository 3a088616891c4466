"""The index of a table: what goes in, what is found, what is replaced, and what survives."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from infra.search.builder import Builder, Progress, Source
from infra.search.index import MOST_COUNTED, Hit, IndexDamaged, Indexed, Query, SearchIndex, SearchTooLong, Value


def row(index: int, place: int, text: str, kind: str | None = None, size: int = 0, names: str = "") -> Indexed:
    return Indexed(index, f"r-{index:08d}", place, size, {"kind": kind}, text, names)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    opened = SearchIndex(tmp_path / "records.sqlite", ["kind"])
    yield opened
    opened.close()


def numbers(index: SearchIndex, query: Query, start: int = 0, count: int = 10) -> list[int]:
    return [hit.index for hit in index.find(query, start, count, seconds=5)]


def test_a_row_is_found_by_word_name_facet_size_and_id(index: SearchIndex) -> None:
    index.put("part-a", "1", [row(4, 0, "a letter", "letter", 2, "contact"), row(6, 1, "a bill", "bill", 9, "money")])
    assert index.find(Query("letter"), 0, 10, seconds=5) == [Hit(4, "part-a", 0)]
    assert numbers(index, Query(names="money")) == [6]
    assert numbers(index, Query(facets={"kind": "bill"})) == [6]
    assert numbers(index, Query(least=3)) == [6]
    assert numbers(index, Query(most=3)) == [4]
    assert numbers(index, Query("r-00000006")) == [6]
    assert numbers(index, Query()) == [4, 6]
    assert numbers(index, Query("a", facets={"kind": "letter"}, least=3)) == []
    assert numbers(index, Query(facets={"kind": "'; DROP TABLE row; --"})) == []
    assert index.count(Query("a"), seconds=5) == 2


def test_pages_are_in_the_order_of_the_numbers_however_shards_came(index: SearchIndex) -> None:
    index.put("part-b", "1", [row(number, number - 100, "word") for number in range(100, 130)])
    index.put("part-a", "1", [row(number, number, "word") for number in range(30)])
    pages = [numbers(index, Query("word"), start, 25) for start in (0, 25, 50, 75)]
    assert [len(page) for page in pages] == [25, 25, 10, 0]
    assert [number for page in pages for number in page] == [*range(30), *range(100, 130)]


def test_a_shard_made_again_replaces_its_rows_and_keeps_their_place(index: SearchIndex) -> None:
    index.put("part-a", "1", [row(0, 0, "old", "letter"), row(1, 1, "old", "letter")])
    index.put("part-b", "1", [row(2, 0, "other old", "bill")])
    assert index.put("part-a", "2", [row(1, 0, "new", "bill")])
    assert numbers(index, Query("old")) == [2]
    assert numbers(index, Query()) == [1, 2]
    assert index.find(Query("new"), 0, 1, seconds=5) == [Hit(1, "part-a", 0)]
    assert index.values("kind", 9) == [Value("bill", 2)]
    assert index.shards() == {"part-a": "2", "part-b": "1"}


def test_a_shard_that_is_there_is_not_indexed_again(index: SearchIndex) -> None:
    index.put("part-a", "1", [row(0, 0, "old")])
    assert not index.put("part-a", "1", [row(0, 0, "new")])
    assert numbers(index, Query("old")) == [0]


def test_a_shard_goes_in_whole_or_not_at_all(index: SearchIndex) -> None:
    def torn() -> Iterator[Indexed]:
        yield row(0, 0, "first", "letter")
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        index.put("part-a", "1", torn())
    assert (index.shards(), numbers(index, Query()), index.values("kind", 9)) == ({}, [], [])


def test_a_shard_that_is_gone_is_dropped(index: SearchIndex) -> None:
    index.put("part-a", "1", [row(0, 0, "word", "letter")])
    index.drop("part-a")
    index.drop("part-a")
    assert (index.shards(), numbers(index, Query("word")), index.values("kind", 9)) == ({}, [], [])


@pytest.mark.parametrize("name", ["part-a", "part-a-cut-otherwise"])
def test_words_of_rows_that_were_gone_for_a_while_do_not_lead_to_those_that_came_in_their_place(
    index: SearchIndex, name: str
) -> None:
    index.put("part-a", "1", [row(0, 0, "old")])
    index.put("part-b", "1", [row(9, 0, "old")])
    for sha256 in ("2", "3"):
        for gone in index.shards().keys() - {"part-b"}:
            index.drop(gone)
        assert index.shards() == {"part-b": "1"}
        index.put(name, sha256, [row(0, 0, f"new{sha256}")])
    assert numbers(index, Query("old")) == [9]
    assert numbers(index, Query("new2")) == []
    assert numbers(index, Query("new3")) == [0]


def test_a_damaged_index_is_removed_and_built_anew(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    with closing(SearchIndex(path, ["kind"])) as index:
        index.put("part-a", "1", [row(number, number, f"word{number} " * 20) for number in range(300)])
    data = path.read_bytes()
    assert len(data) > 40_000
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))  # its head is whole, so that it opens
    with closing(SearchIndex(path, ["kind"])) as index, pytest.raises(IndexDamaged, match="is built again"):
        numbers(index, Query("word7"))
    with closing(SearchIndex(path, ["kind"])) as index:
        assert index.shards() == {}
        assert index.put("part-a", "1", [row(7, 0, "word7")])
        assert numbers(index, Query("word7")) == [7]


def test_counting_ends_where_it_gets_long(index: SearchIndex) -> None:
    index.put("part-a", "1", [row(number, number, "w") for number in range(MOST_COUNTED + 5)])
    assert index.count(Query("w"), seconds=20) == MOST_COUNTED + 1


def test_a_search_ends_in_time(index: SearchIndex) -> None:
    index.put("part-a", "1", [row(number, number, "w", size=1) for number in range(3_000)])
    with pytest.raises(SearchTooLong):
        index.count(Query("w", least=1), seconds=-1)
    assert index.count(Query("w", least=1), seconds=5) == 3_000


def test_a_file_that_is_no_index_is_built_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"SQLite format 3\0 and then nothing that is one" * 40)
    opened = SearchIndex(path, ["kind"])
    opened.put("part-a", "1", [row(0, 0, "word")])
    assert numbers(opened, Query("word")) == [0]
    opened.close()


def test_an_index_of_other_facets_is_built_anew(tmp_path: Path) -> None:
    first = SearchIndex(tmp_path / "x.sqlite", ["kind"])
    first.put("part-a", "1", [row(0, 0, "word")])
    first.close()
    second = SearchIndex(tmp_path / "x.sqlite", ["kind", "model"])
    assert second.shards() == {}
    second.close()


def test_a_facet_that_the_table_has_not_is_an_error(index: SearchIndex) -> None:
    with pytest.raises(ValueError, match="'model': there are kind"):
        index.find(Query(facets={"model": "m"}), 0, 1, seconds=5)
    with pytest.raises(ValueError, match="facet 'a; b'"):
        SearchIndex(Path("never"), ["a; b"])


def test_the_file_is_for_its_owner_alone_and_holds_no_text(index: SearchIndex, tmp_path: Path) -> None:
    index.put("part-a", "1", [row(0, 0, "Seldom words in that very order")])
    path = tmp_path / "records.sqlite"
    assert path.stat().st_mode & 0o077 == 0
    stored = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"seldom" in stored
    assert b"Seldom words in that very order" not in stored


def waited(builder: Builder, source: Source) -> Progress:
    until = time.monotonic() + 20
    while not (progress := builder.want(source)).complete:
        assert time.monotonic() < until
        time.sleep(0.01)
    return progress


def test_a_builder_takes_up_what_is_new_changed_or_gone(tmp_path: Path) -> None:
    shards, made = {"part-a": "1", "part-b": "1"}, list[str]()

    def rows(shard: str) -> Iterable[Indexed]:
        made.append(shard)
        return [row(ord(shard[-1]), 0, f"text {shards[shard]}")]

    builder = Builder((OSError,))
    source = Source(tmp_path / "x.sqlite", ("kind",), lambda: dict(shards), rows)
    assert builder.want(source) == Progress(0, 2)
    assert waited(builder, source) == Progress(2, 2)
    shards |= {"part-b": "2", "part-c": "1"}
    assert waited(builder, source) == Progress(3, 3)
    del shards["part-a"]
    waited(builder, source)
    builder.close()
    assert made == ["part-a", "part-b", "part-b", "part-c"]


def test_a_shard_that_cannot_be_read_is_told_and_holds_up_no_other(tmp_path: Path) -> None:
    def rows(shard: str) -> Iterable[Indexed]:
        if shard == "part-a":
            raise OSError("part-a is gone")
        return [row(1, 0, "word")]

    builder = Builder((OSError,))
    source = Source(tmp_path / "x.sqlite", ("kind",), lambda: {"part-a": "1", "part-b": "1"}, rows)
    assert waited(builder, source) == Progress(1, 2, {"part-a": "part-a is gone"})
    builder.close()


def test_a_store_that_did_not_answer_is_told_and_asked_again(tmp_path: Path) -> None:
    away, told = [KeyError("the store is away")], threading.Event()

    def rows(_: str) -> Iterable[Indexed]:
        if away:
            raise away.pop()
        assert told.wait(20)
        return [row(0, 0, "word")]

    builder = Builder((), (KeyError,))
    source = Source(tmp_path / "x.sqlite", ("kind",), lambda: {"part-a": "1"}, rows)
    until = time.monotonic() + 20
    while not (progress := builder.want(source)).trouble:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert progress == Progress(0, 1, {}, "'the store is away'")
    told.set()
    assert waited(builder, source) == Progress(1, 1)
    builder.close()
    assert builder.want(source) == Progress(1, 1)  # nothing is told of what has passed


def test_readers_see_whole_shards_while_others_are_written(tmp_path: Path) -> None:
    path, seen = tmp_path / "x.sqlite", set[int]()
    writer = SearchIndex(path, ["kind"])
    ended = threading.Event()

    def read() -> None:
        reader = SearchIndex(path, ["kind"])
        while not ended.is_set():
            seen.add(reader.count(Query("word"), seconds=5))
        reader.close()

    thread = threading.Thread(target=read)
    thread.start()
    for shard in range(20):
        writer.put(f"part-{shard}", "1", [row(shard * 50 + place, place, "word") for place in range(50)])
    ended.set()
    thread.join()
    writer.close()
    assert all(count % 50 == 0 for count in seen)
