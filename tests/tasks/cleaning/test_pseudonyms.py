import re
import stat
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.cleaning.private_file import MapUnusable, map_with, private_file, read_map
from tasks.cleaning.pseudonyms import Pseudonym, PseudonymMap, disguise, restore
from tasks.cleaning.values import Value

ANN = Pseudonym(key="name", value="Ann", pseudonym="NAME-7KQ2X")
ANN_BERG = Pseudonym(key="name", value="Ann Berg", pseudonym="NAME-9BBBB")


def test_a_value_has_one_pseudonym_whatever_its_case_and_key() -> None:
    known = PseudonymMap().with_values(
        [Value(key="full name", value="Ann Berg"), Value(key="who", value="ANN  BERG"), Value(key="t", value="Oslo")]
    )
    assert [each.value for each in known.pseudonyms] == ["Ann Berg", "Oslo"]
    assert re.fullmatch(r"FULL-NAME-[2-9B-DF-HJ-NP-TV-Z]{5}", known.pseudonyms[0].pseudonym)
    assert known.with_values([Value(key="x", value="oslo")]) is known


def test_two_owners_have_different_pseudonyms_for_one_value() -> None:
    made = {PseudonymMap().with_values([Value(key="n", value="Ann")]).pseudonyms[0].pseudonym for _ in range(8)}
    assert len(made) == 8


def test_the_longest_value_wins_and_parts_of_words_stay() -> None:
    hidden = disguise("Ann Berg's annual letter: Annual, Ann.", [ANN, ANN_BERG])
    assert hidden.text == "NAME-9BBBB's annual letter: Annual, NAME-7KQ2X."


def test_a_name_in_a_script_without_spaces_is_found_within_a_sentence() -> None:
    wang = Pseudonym(key="name", value="王小明", pseudonym="NAME-44444")
    assert disguise("昨天王小明来了", [wang]).text == "昨天NAME-44444来了"


def test_restoring_puts_the_value_back_and_leaves_longer_codes_alone() -> None:
    assert restore("name-7kq2x's, NAME-7KQ2XY, XNAME-7KQ2X", [ANN]) == "Ann's, NAME-7KQ2XY, XNAME-7KQ2X"


PIECES = st.lists(st.sampled_from(["Ann", "Ann Berg", "x", " ", ", ", "\n", "Berg"]), max_size=12).map(" ".join)


@given(PIECES)
@settings(max_examples=60, deadline=None)
def test_disguised_and_restored_is_the_text_again_and_every_place_has_its_origin(text: str) -> None:
    hidden = disguise(text, [ANN, ANN_BERG])
    assert "Ann" not in hidden.text
    assert restore(hidden.text, [ANN, ANN_BERG]).split() == text.split()  # values come back as they were named
    assert hidden.origin(0) == 0
    assert hidden.origin(len(hidden.text)) == len(text)
    for place, letter in enumerate(hidden.text):
        if letter in "x\n,":
            assert text[hidden.origin(place)] == letter


def test_a_map_is_for_its_owner_alone_and_grows(tmp_path: Path) -> None:
    path = tmp_path / "maps" / "map.json"
    first = map_with(path, [Value(key="name", value="Ann")])
    path.chmod(0o644)
    second = map_with(path, [Value(key="town", value="Oslo")])
    assert second.pseudonyms[:1] == first.pseudonyms
    assert read_map(path) == second
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_map_is_told_without_what_is_in_it_and_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text('{"pseudonyms": [{"value": "Ann Berg"')
    with pytest.raises(MapUnusable) as error:
        map_with(path, [Value(key="town", value="Oslo")])
    assert "Ann" not in str(error.value)
    assert "Ann Berg" in path.read_text()


def test_a_private_file_that_is_not_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def half() -> None:
        with private_file(path) as file:
            file.write("ne")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def add(path: Path, number: int) -> None:
    for step in range(5):
        map_with(path, [Value(key="name", value=f"Person {number}-{step}")])


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    context = get_context("fork")
    workers = [context.Process(target=add, args=(path, number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len({each.pseudonym for each in read_map(path).pseudonyms}) == 15
