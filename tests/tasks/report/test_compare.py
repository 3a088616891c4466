import json

from tasks.report.compare import compare, to_json
from tasks.report.summary import summarize
from tests.tasks.report.tables import PAIRS, record, records

OURS = summarize([records(record("r0"), record("r1", PAIRS, (0.0, 1.0), domain="Home & Garden", model="large"))], [])
ALONE = summarize([records(record("r0"))], [])


def test_a_domain_of_table_2_stands_under_the_papers_rows() -> None:
    first, *others = compare({"mine": OURS, "alone": ALONE}).domains.blocks
    assert [(row.name, row.source) for row in first] == [
        ("MIMIC-III Notes", "human"),
        ("Privasis Health & Wellness", "paper"),
        ("mine · Health & Wellness", "ours"),
        ("alone · Health & Wellness", "ours"),
    ]
    assert [row.name for row in others[-1]] == ["mine · Home & Garden"]


def test_models_follow_those_of_table_8_and_sets_those_of_table_9() -> None:
    compared = compare({"mine": OURS})
    assert [row.name for row in compared.models.rows[8:]] == ["exaone3.5-32b", "mine · large", "mine · small"]
    *theirs, ours = compared.pipelines.rows
    assert [row.vendi for row in theirs] == [39.4, 53.2, 50.1, 57.3]
    assert (ours.name, ours.records, ours.cosine) == ("mine", 2, 0.0)


def test_json_holds_every_row_under_its_table() -> None:
    tables = json.loads(to_json(compare({"mine": OURS})))
    assert {name: len(rows) for name, rows in tables.items()} == {"Table 2": 12, "Table 8": 11, "Table 9": 5}
    assert tables["Table 9"][-1]["mattr"] == OURS.whole.mattr
    assert tables["Table 2"][-1]["cosine"] is None


def test_a_set_of_nothing_can_be_compared() -> None:
    row = compare({"empty": summarize([], [])}).pipelines.rows[-1]
    assert (row.records, row.mattr, row.vendi) == (0, None, None)
