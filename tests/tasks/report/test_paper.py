import pytest

from tasks.report.paper import PAPER
from tasks.synthesis.taxonomy import DOMAINS


def test_the_whole_set_adds_up() -> None:
    facts = PAPER.set
    assert facts.attributes / facts.records == pytest.approx(facts.attributes_a_record, abs=0.5)
    assert facts.groups_a_record * facts.attributes_a_group == pytest.approx(facts.attributes_a_record, abs=0.5)


def test_table_2_pairs_each_domain_with_a_human_written_set() -> None:
    pairs = [(row.domain, row.human_written) for row in PAPER.table2]
    assert [human for _, human in pairs] == [True, False] * 5
    assert [domain for domain, _ in pairs[::2]] == [domain for domain, _ in pairs[1::2]]
    assert {domain for domain, _ in pairs} <= {domain.name for domain in DOMAINS}


def test_the_full_pipeline_is_the_most_diverse_of_table_9() -> None:
    *ablations, full = PAPER.table9
    assert all(full.vendi > row.vendi and full.cosine < row.cosine for row in ablations)


def test_rows_have_the_columns_of_their_table() -> None:
    assert [row.vendi is None for row in PAPER.table2] == [True] * 10
    assert [row.words is None for row in PAPER.table8] == [False] * 9
    assert [(row.records, row.words) for row in PAPER.table9] == [(500, None)] * 4
