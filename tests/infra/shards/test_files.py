"""What every place for data must do alike: each test runs on a folder and on an object store."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from infra.shards import files
from infra.shards.location import Location


def test_what_was_put_is_read_and_replaced_whole(root: Location) -> None:
    path = root / "a" / "b.json"
    assert files.read(path) is None
    assert not files.exists(path)
    files.put(path, b"one")
    assert files.read(path) == b"one"
    files.put(path, memoryview(b"two, longer"))
    files.put(path, b"3", durable=False)
    assert files.read(path) == b"3"
    assert files.exists(path)


def test_an_empty_file_is_a_file(root: Location) -> None:
    files.put(root / "a" / "empty", b"")
    assert files.read(root / "a" / "empty") == b""
    assert files.sizes(root / "a") == {"empty": 0}


def test_of_many_that_create_a_file_at_once_one_wins(root: Location) -> None:
    path, start = root / "lease" / "1.json", Barrier(8)
    files.put(root / "lease" / "other", b"")

    def create(number: int) -> bool:
        start.wait()
        return files.create(path, str(number).encode())

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(create, range(8)))
    assert sum(won) == 1
    assert files.read(path) == str(won.index(True)).encode()
    assert not files.create(path, b"late")


def test_a_deleted_file_is_gone_and_may_be_deleted_again(root: Location) -> None:
    path = root / "a" / "b"
    files.put(path, b"x")
    files.delete(path)
    files.delete(path)
    assert files.read(path) is None
    assert files.create(path, b"again")


def test_a_listing_names_what_is_right_in_the_folder(root: Location) -> None:
    for name in ("b.json", "a.json", "ab.json"):
        files.put(root / "set" / name, b"12")
    files.put(root / "set" / "deeper" / "c.json", b"123")
    files.put(root / "set2" / "d.json", b"")
    assert files.names(root / "set") == ["a.json", "ab.json", "b.json", "deeper"]
    assert files.names(root / "set", "a") == ["a.json", "ab.json"]
    assert files.folders(root) == ["set", "set2"]
    assert files.folders(root / "set") == ["deeper"]
    assert {name: size for name, size in files.sizes(root / "set").items() if name != "deeper"} == {
        "a.json": 2,
        "ab.json": 2,
        "b.json": 2,
    }
    assert files.is_folder(root / "set")
    assert files.names(root / "nowhere") == files.folders(root / "nowhere") == []
    assert files.sizes(root / "nowhere") == files.stamps(root / "nowhere") == {}
    assert not files.is_folder(root / "nowhere")


def test_a_stamp_changes_when_a_file_is_written_and_only_then(root: Location) -> None:
    files.put(root / "a" / "x", b"1")
    files.put(root / "a" / "y", b"1")
    before = files.stamps(root / "a")
    files.put(root / "a" / "y", b"2")
    after = files.stamps(root / "a")
    assert before.keys() == after.keys() == {"x", "y"}
    assert [name for name in before if before[name] != after[name]] == ["y"]


def test_a_file_that_has_just_been_written_is_young(root: Location) -> None:
    files.put(root / "a" / "x", b"1")
    assert 0 <= files.age_seconds(root / "a" / "x") < 60
    assert files.age_seconds(root / "a" / "y") == 0


def test_a_staged_file_appears_when_it_is_published(root: Location) -> None:
    path = root / "a" / "x"
    files.put(path, b"old")
    staged = files.stage(path, b"new")
    assert files.read(path) == b"old"
    staged.publish(lambda: None)
    assert files.read(path) == b"new"


def test_a_staged_file_that_may_not_be_published_leaves_no_trace(root: Location) -> None:
    def refuse() -> None:
        raise PermissionError

    path = root / "a" / "x"
    files.put(path, b"old")
    staged = files.stage(path, b"new")
    with pytest.raises(PermissionError):
        staged.publish(refuse)
    staged.discard()
    assert files.read(path) == b"old"
    assert files.names(root / "a") == ["x"]


def test_a_linked_file_has_the_same_bytes(root: Location) -> None:
    files.put(root / "a" / "x", b"1")
    files.put(root / "b" / "y", b"2")
    files.link(root / "a" / "x", root / "b" / "y")
    files.link(root / "a" / "x", root / "c" / "z")
    assert files.read(root / "b" / "y") == files.read(root / "c" / "z") == b"1"


def test_items_are_mapped_in_their_order(root: Location) -> None:
    for number in range(50):
        files.put(root / "a" / f"{number:02}", str(number).encode())
    paths = [root / "a" / name for name in files.names(root / "a")]
    assert files.mapped(files.read, paths, root) == [str(number).encode() for number in range(50)]
    assert files.mapped(files.read, [], root) == []


def test_a_folder_can_be_made_and_made_again(root: Location) -> None:
    files.make_folder(root / "a" / "b")
    files.make_folder(root / "a" / "b")
    assert files.names(root / "a" / "b") == []
