import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.reviewing.judgements import latest, reviewer_name
from tasks.reviewing.sheet import Item, Key, Sheet, SheetUnfit, Text, sheet_of, tidy
from tests.tasks.reviewing.small import TEXTS, ids, judgement, small


def test_the_sheet_holds_texts_and_nothing_of_where_they_come_from() -> None:
    sheet, _ = small()
    written = sheet.model_dump_json()
    assert "roof leaks" in written
    for hidden in ("synthetic", "human", "data/letters", "mail.jsonl", '"r1"', "seed"):
        assert hidden not in written


def test_the_order_of_the_sheet_is_that_of_hashes_and_not_of_sources() -> None:
    sheet, _ = small()
    backwards, _ = sheet_of(TEXTS[::-1], seed=3)
    assert sheet == backwards
    assert [item.id for item in sheet.items] == sorted(item.id for item in sheet.items)
    swapped = [
        Text("human" if each.source == "synthetic" else "synthetic", "x", each.name, each.text, 1) for each in TEXTS
    ]
    assert sheet_of(swapped, seed=3)[0] == sheet


def test_another_seed_gives_other_ids() -> None:
    assert {item.id for item in small()[0].items}.isdisjoint(item.id for item in sheet_of(TEXTS, seed=4)[0].items)


def test_no_text_shows_what_kind_of_file_it_was_in() -> None:
    assert tidy(TEXTS[2].text) == "Dear Cem,\n\nsee you."
    assert tidy("\n \n  a\rb \n\n") == "  a\nb"


def test_the_same_text_of_both_sources_is_refused() -> None:
    twins = [TEXTS[0], Text("human", "mail", "m1", "Dear Amina,\r\nthe roof leaks.\r\n", 5)]
    with pytest.raises(SheetUnfit, match=r"data/letters r1 and mail m1 are the same text"):
        sheet_of(twins, seed=0)


def test_each_reviewer_has_an_order_of_their_own_that_stays() -> None:
    texts = [Text("human", "h", str(number), f"text {number}", 2) for number in range(50)]
    sheet, _ = sheet_of(texts, seed=0)
    ann, ben = sheet.order_of("ann"), sheet.order_of("ben")
    assert ann != ben
    assert ann == sheet.order_of("ann")
    assert sorted(item.id for item in ann) == [item.id for item in sheet.items]


def test_the_place_in_an_order_tells_nothing_of_the_source() -> None:
    texts = [Text("human" if n % 2 else "synthetic", "o", str(n), f"text {n}", 2) for n in range(2000)]
    sheet, entries = sheet_of(texts, seed=0)
    source = {entry.id: entry.source for entry in entries}
    for order in (sheet.items, sheet.order_of("ann")):
        first_half = sum(source[item.id] == "synthetic" for item in order[:1000])
        assert 430 < first_half < 570  # three standard deviations are 47


def test_another_sheets_key_is_refused() -> None:
    sheet, key = small()
    other, _ = sheet_of(TEXTS, seed=4)
    assert key.sources(sheet)[ids()["r1"]] == "synthetic"
    with pytest.raises(SheetUnfit, match="name its own key"):
        key.sources(other)
    fewer = Key.model_validate(key.model_dump() | {"entries": key.entries[1:]})
    with pytest.raises(SheetUnfit, match="name its own key"):
        fewer.sources(sheet)


def test_a_sheet_with_an_id_twice_or_out_of_order_is_none() -> None:
    one, two = Item(id="0" * 10, text="a"), Item(id="1" * 10, text="b")
    for items in ((one, one), (two, one)):
        with pytest.raises(ValidationError, match="order of their ids"):
            Sheet(items=items)


def test_the_last_judgement_counts() -> None:
    first, second = judgement("a", True, None), judgement("a", True, False)
    assert latest([first, judgement("b"), second])["a"] == second
    assert second.complete
    assert not first.complete


@pytest.mark.parametrize("name", ["ann", "Zoë K.", "김민지", "r-2", " ben "])
def test_names_of_people_are_names(name: str) -> None:
    assert reviewer_name(name) == name.strip()


@given(st.text(max_size=60))
def test_no_name_leads_out_of_the_folder_or_hides(name: str) -> None:
    try:
        stored = reviewer_name(name)
    except ValueError:
        return
    assert not {"/", "\0", "\n", "\\"} & set(stored)
    assert not stored.startswith((".", "-", " "))
    assert len(stored.encode()) + len(".journal") < 255


def test_the_same_name_written_in_two_ways_is_one() -> None:
    assert reviewer_name("Zoe\u0308") == reviewer_name("Zo\u00eb")
