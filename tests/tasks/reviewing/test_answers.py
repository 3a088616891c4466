import csv
import io
import json

import pytest

from tasks.reviewing.answers import Answers, AnswersUnfit, check, read_csv, read_json, table
from tasks.reviewing.judgements import Judgement
from tasks.reviewing.sheet import Text, sheet_of
from tests.tasks.reviewing.small import NOON, ids, judgement, said, small

SHEET, _ = small()
IDS = ids()


def answers(*judgements: Judgement) -> Answers:
    return Answers(sheet=SHEET.digest, reviewer="ann", judgements=judgements)


def filled(**answer_of: str) -> bytes:
    """The table of ann with answers in it, as a spreadsheet would save it."""
    rows = list(csv.reader(io.StringIO(table(SHEET, "ann", {}), newline="")))
    for row in rows[1:]:
        name = next(name for name, each in IDS.items() if f"id-{each}" == row[3])
        said = answer_of.get(name.replace("mail.jsonl:", "m"), ",").split(",")
        row[5], row[6] = said[0], said[1]
        row[7] = said[2] if len(said) > 2 else ""
    written = io.StringIO(newline="")
    csv.writer(written).writerows(rows)
    return written.getvalue().encode()


def test_a_filled_table_comes_back_as_judgements() -> None:
    read = read_csv(filled(r1="yes,no,two dates", m1="Y,N", m2=" YES , yes"), "a.csv", NOON)
    assert (read.sheet, read.reviewer) == (SHEET.digest, "ann")
    by_item = {each.item: each for each in read.judgements}
    assert by_item[IDS["r1"]] == judgement(IDS["r1"], True, False, "two dates")
    assert by_item[IDS["mail.jsonl:1"]] == judgement(IDS["mail.jsonl:1"], True, False)
    assert by_item[IDS["mail.jsonl:2"]].complete
    assert IDS["r2"] not in by_item  # nothing was said of it


def test_no_cell_that_names_something_could_be_taken_for_a_number() -> None:
    """Of ten hexadecimal digits one id in sixty is a number to a spreadsheet, which writes it back as another."""
    for row in csv.DictReader(io.StringIO(table(SHEET, "ann", {}), newline="")):
        for cell in (row["sheet"], row["id"]):
            assert cell[0].isalpha()
    before = filled(r1="yes,yes").replace(b"sheet-", b"").replace(b"id-", b"")  # as earlier releases wrote it
    assert read_csv(before, "a.csv", NOON) == read_csv(filled(r1="yes,yes"), "a.csv", NOON)


def test_semicolons_and_a_byte_order_mark_are_what_spreadsheets_write() -> None:
    rows = csv.reader(io.StringIO(filled(r1="yes,yes").decode(), newline=""))
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=";").writerows(rows)
    read = read_csv(("\ufeff" + written.getvalue()).encode(), "a.csv", NOON)
    assert [each.item for each in read.judgements] == [IDS["r1"]]


def test_an_answer_that_is_neither_is_refused_with_its_place() -> None:
    with pytest.raises(AnswersUnfit, match=r"a\.csv: row \d: natural: 'maybe': write yes or no"):
        read_csv(filled(r1="maybe,yes"), "a.csv", NOON)


def test_tables_of_two_reviewers_or_without_a_column_are_refused() -> None:
    with pytest.raises(AnswersUnfit, match="column reviewer"):
        read_csv(filled().replace(b",ann,1,", b",ben,1,"), "a.csv", NOON)
    with pytest.raises(AnswersUnfit, match="no column coherent"):
        read_csv(filled().replace(b"coherent", b"cohesive"), "a.csv", NOON)
    with pytest.raises(AnswersUnfit, match="no rows"):
        read_csv(b"", "a.csv", NOON)
    with pytest.raises(AnswersUnfit, match="not UTF-8"):
        read_csv(b"\xff\xfe", "a.csv", NOON)


def test_a_text_that_a_spreadsheet_would_run_is_written_as_text() -> None:
    texts = [Text("human", "h", "1", '=HYPERLINK("http://x")', 2), Text("human", "h", "2", "-1 + 2", 2)]
    sheet, _ = sheet_of(texts, seed=0)
    item = sheet.items[0].id
    rows = list(
        csv.DictReader(io.StringIO(table(sheet, "ann", {item: judgement(item, True, None, "=1+1")}), newline=""))
    )
    cells = {row["text"] for row in rows}
    assert cells == {'\'=HYPERLINK("http://x")', "'-1 + 2"}
    (commented,) = (row for row in rows if row["comment"])
    assert commented["comment"] == "'=1+1"
    read = read_csv(table(sheet, "ann", {item: judgement(item, True, None, "=1+1")}).encode(), "a.csv", NOON)
    assert read.judgements == (judgement(item, True, None, "=1+1"),)  # and comes back as it was


def test_what_the_page_saves_is_read() -> None:
    saved = {
        "version": 1,
        "sheet": SHEET.digest,
        "reviewer": "ann",
        "judgements": [
            {"item": IDS["r1"], "natural": True, "coherent": None, "comment": "x", "at": "2026-01-02T12:00:00.000Z"}
        ],
    }
    assert read_json(json.dumps(saved).encode(), "a.json") == answers(judgement(IDS["r1"], True, None, "x"))
    for broken in (b"{", b"[]", json.dumps(saved | {"version": 2}).encode(), json.dumps(saved | {"key": 1}).encode()):
        with pytest.raises(AnswersUnfit, match=r"a\.json: .*as it is"):
            read_json(broken, "a.json")


def test_answers_to_another_sheet_unknown_and_doubled_texts_are_refused_together() -> None:
    with pytest.raises(AnswersUnfit, match="answers to sheet other"):
        check(answers().model_copy(update={"sheet": "other"}), SHEET, {})
    first, second = judgement(IDS["r1"], True, True), judgement(IDS["r1"], True, False)
    with pytest.raises(AnswersUnfit) as refused:
        check(answers(first, second, judgement("f" * 10, True, True)), SHEET, {})
    assert str(refused.value) == f"ffffffffff: not on the sheet; {IDS['r1']}: stands 2 times"


def test_what_is_new_there_already_changed_and_missing_is_told_apart() -> None:
    recorded = said({"r1": "yy", "r2": "yn", "mail.jsonl:1": "y-"})
    given = answers(
        judgement(IDS["r1"], True, True),  # the same
        judgement(IDS["r2"], False, False),  # another answer
        judgement(IDS["mail.jsonl:1"], True, False, "why"),  # only adds
    )
    checked = check(given, SHEET, recorded)
    assert checked.same == 1
    assert [each.item for each in checked.changed] == [IDS["r2"]]
    assert [each.item for each in checked.new] == [IDS["mail.jsonl:1"]]
    assert checked.missing == 1  # the fourth, of which nobody said a thing


def test_taking_an_answer_back_is_a_change() -> None:
    checked = check(answers(judgement(IDS["r1"], True, None)), SHEET, said({"r1": "yy"}))
    assert len(checked.changed) == 1


def test_the_same_file_again_adds_nothing() -> None:
    given = read_csv(filled(r1="yes,no", r2="no,no,x"), "a.csv", NOON)
    checked = check(given, SHEET, {each.item: each for each in given.judgements})
    assert (checked.new, checked.same, checked.changed) == ((), 2, ())
