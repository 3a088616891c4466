from tasks.report.notices import notices
from tasks.report.summary import summarize
from tests.tasks.report.tables import PAIRS, attribute, record, records, reject, rejects, step


def test_many_rows_and_few_different_ones_come_first() -> None:
    copies = [record(f"r{i}") for i in range(3)]
    said = notices(summarize([records(*copies, record("r3", PAIRS, (0.0, 1.0)))], []))
    assert said[0] == "Only 2 of 4 texts are different; the most frequent one stands in 3 records."
    assert said[1].startswith("75.0% of 4 records have a near copy")


def test_a_low_yield_ungrounded_attributes_and_unread_verdicts_are_said() -> None:
    row = record("r0", attributes=[attribute("age", "9", grounded=False)], refinement=[step(1, "unparsable")])
    said = notices(summarize([records(row)], [rejects(reject("r1"))]))
    assert said[0] == "50.0% of the rows became records; the paper kept about 94%."
    assert said[1] == "Only 0.0% of the attributes have a value that stands in their record's text."
    assert said[2] == "1 of 1 verdicts could not be read; each counted as “keep the current draft”."


def test_a_small_set_is_not_compared_by_vendi() -> None:
    assert notices(summarize([records(record("r0"))], [])) == [
        "A Vendi score grows with the number of records. The paper's are of 500 records where it says so (Table 9),"
        " this set has 1: do not compare them."
    ]


def test_an_empty_set_says_only_that() -> None:
    assert notices(summarize([], [])) == ["No record was kept: there is nothing to measure."]
