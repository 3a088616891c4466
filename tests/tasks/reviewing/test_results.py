import io
import json

import pytest
from rich.console import Console

from tasks.measuring.proportions import Proportion
from tasks.reviewing.layout import notes_of, tables_of
from tasks.reviewing.results import Results, results_of
from tasks.reviewing.sheet import SheetUnfit, sheet_of
from tasks.reviewing.written import to_json, to_markdown, to_page, to_terminal
from tests.tasks.reviewing.small import TEXTS, ids, judgement, said, small

ANN = {"r1": "yy", "r2": "yn", "mail.jsonl:1": "yy", "mail.jsonl:2": "ny"}
BEN = {"r1": "yy", "r2": "yy", "mail.jsonl:1": "nn"}
CEM = {"r1": "ny", "r2": "yy", "mail.jsonl:1": "yy", "mail.jsonl:2": "y-"}


def results(**reviewers: dict[str, str]) -> Results:
    return results_of(*small(), {name: said(answers) for name, answers in reviewers.items()})


def test_a_text_is_what_more_than_half_say_it_is() -> None:
    found = results(ann=ANN, ben=BEN, cem=CEM)
    both, natural = found.answers["both"], found.answers["natural"]
    assert both.synthetic == Proportion.counted(2, 2)  # r1: two of three, r2: two of three
    assert both.human == Proportion.counted(1, 2)  # the first: two of three; the second: none of one
    assert natural.human == Proportion.counted(1, 2)
    assert both.difference.value == 0.5
    assert (both.synthetic_judgements, both.human_judgements) == (Proportion.counted(4, 6), Proportion.counted(2, 4))
    assert both.split == 0


def test_half_is_not_more_than_half_and_is_told() -> None:
    found = results(ann=ANN, ben=BEN)
    assert found.answers["both"].synthetic == Proportion.counted(1, 2)
    assert found.answers["both"].split == 2
    assert any("Of 2 texts exactly half" in note for note in notes_of(found))


def test_judgements_of_one_question_are_told_and_not_counted() -> None:
    found = results(cem=CEM)
    assert (found.judgements, found.expected, found.judged, found.finished) == (3, 4, 3, False)
    assert (found.reviewers[0].judged, found.reviewers[0].begun) == (3, 1)
    notes = " ".join(notes_of(found))
    assert "3 of 4 judgements are there, of 3 of 4 texts" in notes
    assert "one question answered do not count: 1" in notes


def test_each_reviewer_has_shares_of_their_own() -> None:
    ann = results(ann=ANN, ben=BEN).reviewers[0]
    assert (ann.name, ann.synthetic, ann.human) == ("ann", Proportion.counted(1, 2), Proportion.counted(1, 2))
    assert ann.difference.value == 0


def test_agreement_is_told_for_each_question_and_pair() -> None:
    found = results(ann=ANN, ben=BEN, cem=CEM)
    natural = found.answers["natural"].agreement
    assert natural.texts == 3  # the fourth has one complete judgement
    # r1: yyn, one of three pairs agrees; r2: yyy; the third: yny. Each text counts by its three judgements.
    assert natural.raw == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)
    assert [(pair.first, pair.second, pair.texts) for pair in natural.pairs] == [
        ("ann", "ben", 3),
        ("ann", "cem", 3),
        ("ben", "cem", 3),
    ]


def test_the_key_of_another_sheet_is_refused() -> None:
    _, key = small()
    with pytest.raises(SheetUnfit):
        results_of(sheet_of(TEXTS, seed=9)[0], key, {})


def test_origins_are_told_where_a_source_has_several() -> None:
    assert results(ann=ANN).origins == ()
    sheet, key = small()
    entries = tuple(
        entry.model_copy(update={"origin": "data/memos"}) if entry.name == "r2" else entry for entry in key.entries
    )
    found = results_of(sheet, key.model_copy(update={"entries": entries}), {"ann": said(ANN)})
    assert [(each.source, each.origin, each.both.count, each.both.of) for each in found.origins] == [
        ("synthetic", "data/letters", 1, 1),
        ("synthetic", "data/memos", 0, 1),
        ("human", "mail.jsonl", 1, 2),
    ]


def test_the_paper_stands_beside_with_the_intervals_of_its_counts() -> None:
    first = tables_of(results(ann=ANN))[0]
    assert first.paper is not None
    assert first.rows[first.paper][:3] == (
        "paper, 7 reviewers",
        "113/128  88.3% [81.6, 92.8]",
        "111/128  86.7% [79.8, 91.5]",
    )
    assert first.rows[first.paper][3].startswith("+1.6 [")


def test_what_gives_a_source_away_is_told() -> None:
    found = results(ann=ANN)
    assert tables_of(found)[-1].rows[1] == ("drawn human-written", "2", "4", "4", "4", "6", "6")
    assert any(
        "the longer in 50%; of synthetic and human-written texts have Markdown: 50% and 0%" in note
        for note in notes_of(found)
    )


def hostile() -> Results:
    answers = {"<b>|ann": said(ANN)}
    item = ids()["r1"]
    answers["<b>|ann"][item] = judgement(item, True, True, "a <img src=x onerror=alert(1)> | \x1b[2J end")
    return results_of(*small(), answers)


def test_what_reviewers_wrote_is_text_on_the_page_and_in_markdown() -> None:
    page = to_page(hostile())
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "\x1b" not in page
    assert "<script" not in page
    markdown = to_markdown(hostile())
    assert "| &lt;b>\\|ann |" in markdown
    assert "<b>" not in markdown


def test_markdown_rows_have_as_many_cells_as_their_heads() -> None:
    for line in to_markdown(results(ann=ANN, ben=BEN, cem=CEM)).splitlines():
        if line.startswith("|") and not set(line) <= set("|-: "):
            assert line.count("|") in (5, 6, 7, 8)
    assert "| natural and coherent | 2/2  100.0% [34.2, 100.0] |" in to_markdown(results(ann=ANN, ben=BEN, cem=CEM))


def test_json_has_all_figures_and_the_papers() -> None:
    found = json.loads(to_json(results(ann=ANN, ben=BEN)))
    assert found["answers"]["both"]["difference"]["value"] == 0.5
    assert found["paper"]["synthetic"]["count"] == 113
    assert found["texts"] == {"synthetic": 2, "human": 2}


def test_a_terminal_shows_names_and_no_control_character() -> None:
    written = io.StringIO()
    Console(width=160, file=written).print(to_terminal(hostile()))
    shown = written.getvalue()
    assert "<b>|ann" in shown
    assert "\x1b" not in shown
    assert "natural and coherent" in shown
    assert "paper, 7 reviewers" in shown
