"""Each reader on a few rows in the published format."""

import json
from pathlib import Path

import pytest

from tasks.corpora import creddata, hallmark, piibench, presidio_research, rat_bench, redacbench
from tasks.corpora.verbatim import occurrences
from tasks.surprise.documents import Label, Region
from tests.tasks.corpora.files import write_lines

CONTEXT = {
    "id": "1", "repo": "r1", "file": "data/r1/a.py", "line": 3, "gt": "T", "category": "Auth:Secret:Token",
    "anchor": [4, 8], "text": "pw='hunter2'", "targets": [[4, 11, "Password"]],
}  # fmt: skip


def test_creddata_gives_labels_and_what_to_break_down_by(tmp_path: Path) -> None:
    write_lines(tmp_path / creddata.FILE, [CONTEXT, CONTEXT | {"id": "2", "targets": [[4, 99, "Password"]]}])
    corpus = creddata.read(tmp_path)
    document = corpus.documents[0]
    assert document.labels == (Label(4, 11, "password"),)
    assert document.labelled
    assert document.strata == {
        "repository": "r1", "path": "data/r1/a.py", "language": "python",
        "regime": "backend", "category": "authorization", "truth": "T",
    }  # fmt: skip
    assert "ends after the text" in corpus.rejects[0].reason


def test_the_union_of_credentials_is_disjoint() -> None:
    given = [Label(5, 9, "b"), Label(0, 6, "a"), Label(20, 22, "c"), Label(9, 10, "d"), Label(20, 21, "e")]
    assert creddata.union(given) == (Label(0, 9, "a"), Label(9, 10, "d"), Label(20, 22, "c"))


@pytest.mark.parametrize(
    ("category", "family"),
    [
        ("Password", "password"),
        ("Password:URL Credentials", "url credentials"),
        ("SQL Password", "password"),
        ("OTP / 2FA Secret:Secret", "service"),
        ("Secret", "secret"),
        ("Nonce", "secret"),
        ("Bearer Authorization", "authorization"),
        ("Secret:Token", "token"),
        ("Key:Secret", "api key"),
        ("UUID:Token", "token"),
        ("UUID", "uuid"),
    ],
)
def test_the_most_telling_part_of_a_category_decides_its_family(category: str, family: str) -> None:
    assert creddata.family(category) == family


@pytest.mark.parametrize(
    ("file", "language", "regime"),
    [
        ("a/b.mjs", "javascript", "frontend"),
        ("a/b.yml", "yaml", "text and config"),
        ("a/1ea02434", "config", "text and config"),
        ("a.b/c.go", "go", "backend"),
    ],
)
def test_the_suffix_tells_the_language(file: str, language: str, regime: str) -> None:
    assert creddata.language(file) == language
    assert creddata.regime(language) == regime


def test_presidio_research_checks_its_offsets(tmp_path: Path) -> None:
    span = {"entity_type": "PERSON", "entity_value": "Rubija", "start_position": 11, "end_position": 17}
    row = {"full_text": "My name is Rubija", "masked": "My name is {{PERSON}}", "spans": [span], "template_id": 58}
    shifted = row | {"spans": [span | {"start_position": 10}]}
    (tmp_path / presidio_research.FILE).write_text(json.dumps([row, shifted]), encoding="utf-8")
    corpus = presidio_research.read(tmp_path)
    assert corpus.documents[0].labels == (Label(11, 17, "PERSON"),)
    assert corpus.documents[0].strata == {"template": "58"}
    assert "[10, 17) is not the value" in corpus.rejects[0].reason


def entry(key: str, kind: str | None, year: str = "2022", **fields: str) -> dict[str, object]:
    label = "VALID" if kind is None else "HALLUCINATED"
    given = {"author": "A. Bee and C. Dee", "title": "On {G}iraffes", "year": year, "booktitle": "ICML"} | fields
    return {"bibtex_key": key, "fields": given, "label": label, "hallucination_type": kind}


def test_a_citation_is_written_out_with_its_fields_and_labelled_whole(tmp_path: Path) -> None:
    write_lines(tmp_path / hallmark.FILE, [entry("f", "plausible_fabrication", doi="10.1/2"), entry("v", None)])
    fabricated, genuine = hallmark.read(tmp_path).documents
    assert fabricated.text == genuine.text == "A. Bee, C. Dee. On Giraffes. ICML. 2022."
    assert fabricated.labels == (Label(0, 40, "plausible_fabrication"),)
    assert genuine.labels == ()
    assert genuine.labelled
    assert [fabricated.text[region.start : region.end] for region in fabricated.regions] == [
        "A. Bee, C. Dee", "On Giraffes", "ICML", "2022",
    ]  # fmt: skip
    assert fabricated.regions[1] == Region(16, 27, "title")


def test_and_is_a_word_of_titles_and_venues_and_parts_authors_only(tmp_path: Path) -> None:
    row = entry("t", None, author="A. Bee and\n C. Dee and E. F", title="Bread and Butter", booktitle="Food and Wine")
    write_lines(tmp_path / hallmark.FILE, [row])
    assert hallmark.read(tmp_path).documents[0].text == "A. Bee, C. Dee, E. F. Bread and Butter. Food and Wine. 2022."


def test_a_citation_without_venue_is_a_reject(tmp_path: Path) -> None:
    row = entry("a", None)
    del row["fields"]["booktitle"]  # type: ignore[attr-defined]
    write_lines(tmp_path / hallmark.FILE, [row, entry("b", None)])
    assert "no venue" in hallmark.read(tmp_path).rejects[0].reason


def test_fabrications_are_matched_by_year_and_halved_year_by_year(tmp_path: Path) -> None:
    rows = [entry(f"f{year}{n}", "plausible_fabrication", year) for year in ("2021", "2022") for n in range(3)]
    rows += [entry(f"v{year}{n}", None, year) for year in ("2021", "2022", "2023") for n in range(5)]
    rows += [entry(f"o{n}", "wrong_venue", "2021") for n in range(5)]
    write_lines(tmp_path / hallmark.FILE, rows)
    split = hallmark.split(hallmark.read(tmp_path), seed=0)
    counts = [
        sorted((document.strata["year"], document.strata["kind"]) for document in side)
        for side in (split.validation, split.application)
    ]
    fabricated, genuine = "plausible_fabrication", "genuine"
    assert counts[0] == [("2021", genuine)] * 2 + [("2021", fabricated)] * 2 + [("2022", genuine), ("2022", fabricated)]
    assert counts[1] == [("2021", genuine), ("2021", fabricated)] + [("2022", genuine)] * 2 + [("2022", fabricated)] * 2
    assert not {d.id for d in split.validation} & {d.id for d in split.application}


def test_piibench_joins_tokens_and_reads_tags(tmp_path: Path) -> None:
    tokens = ["Ann", "B.", "Lee", ",", "Oslo", ",", "0471", "11"]
    labels = ["B-NAME", "I-NAME", "I-NAME", "O", "I-CITY", "O", "B-PHONE", "B-PHONE"]
    write_lines(tmp_path / "val.jsonl", [{"tokens": tokens, "labels": labels, "source": "few_nerd"}])
    write_lines(
        tmp_path / "test.jsonl",
        [
            {"tokens": ["a"], "labels": ["O"], "source": "s"},
            {"tokens": ["a", "b"], "labels": ["O"], "source": "s"},
            {"tokens": ["a"], "labels": ["NAME"], "source": "s"},
        ],
    )
    split, _, test = piibench.split(tmp_path)
    document = split.validation[0]
    assert document.text == "Ann B. Lee , Oslo , 0471 11"
    found = [(label.category, document.text[label.start : label.end]) for label in document.labels]
    assert found == [("NAME", "Ann B. Lee"), ("CITY", "Oslo"), ("PHONE", "0471"), ("PHONE", "11")]
    assert document.strata == {"source": "few_nerd"}
    assert [reject.reason for reject in test.rejects] == [
        "2 tokens and 1 labels: one a token is expected",
        "label 'NAME': O, B-TYPE or I-TYPE is expected",
    ]


def test_a_tag_of_another_type_opens_a_span() -> None:
    assert piibench.spans(["B-A", "I-B", "I-B", "O", "I-B"]) == [(0, 1, "A"), (1, 3, "B"), (4, 5, "B")]


def test_rat_bench_labels_values_that_stand_in_the_text(tmp_path: Path) -> None:
    row = {
        "id": 0, "text": "Target: I live in oregon or so, card 3734 30.", "scenario": "Meeting transcript",
        "difficulty": 1, "direct_identifiers": {"credit card number": "3734 30"},
        "indirect_identifiers": {"ST": "Oregon/OR", "DOB": "1 May 2000"}, "prompt": "",
    }  # fmt: skip
    write_lines(tmp_path / "level_1.jsonl", [row])
    transcripts = rat_bench.read(tmp_path, level=1)
    document = transcripts.corpus.documents[0]
    assert [document.text[label.start : label.end] for label in document.labels] == ["oregon", "3734 30"]
    assert not document.labelled
    assert document.strata == {"level": "1", "scenario": "Meeting transcript"}
    assert transcripts.identifiers[document.id] == {
        "ST": "Oregon/OR", "DOB": "1 May 2000", "credit card number": "3734 30",
    }  # fmt: skip
    with pytest.raises(ValueError, match="levels 1, 2 and 3"):
        rat_bench.read(tmp_path, level=4)


def test_only_a_state_of_rat_bench_is_a_name_and_a_code(tmp_path: Path) -> None:
    row = {
        "id": 0, "text": "I live in Ohio, at 5/2 Elm Street, since 5 years.", "scenario": "s", "difficulty": 1,
        "direct_identifiers": {"address": "5/2 Elm Street"}, "indirect_identifiers": {"ST": "Ohio/OH"},
    }  # fmt: skip
    write_lines(tmp_path / "level_1.jsonl", [row])
    document = rat_bench.read(tmp_path, level=1).corpus.documents[0]
    assert [document.text[label.start : label.end] for label in document.labels] == ["Ohio", "5/2 Elm Street"]


def test_redacbench_gives_text_policy_and_propositions(tmp_path: Path) -> None:
    texts = [{"id": "b", "label": "redacted", "text": "[gone]"}, {"id": "a", "label": "original", "text": "Ann."}]
    questions = [{"id": "1", "q": "Who?", "a": "ann", "redact": True}, {"id": "2", "q": "?", "a": "x", "redact": False}]
    item = {"id": "x", "policy": "Instructor names", "answers": {}, "texts": texts, "qa": questions}
    policed = redacbench.read(write_lines(tmp_path / "items.jsonl", [item, item | {"policy": "another"}]))
    assert policed.corpus.documents[0].text == "Ann."
    assert policed.corpus.documents[0].labels == (Label(0, 3, "sensitive"),)
    assert policed.policies == {"x": "Instructor names"}
    assert [proposition.sensitive for proposition in policed.propositions["x"]] == [True, False]
    assert len(policed.corpus.rejects) == 1


def test_values_are_found_as_whole_words_across_white_space() -> None:
    text = "Ann Lee, ANN\nLEE; Annette Lee; (Ann Lee)"
    spans = [(label.start, label.end) for label in occurrences(text, [("name", "Ann Lee")])]
    assert spans == [(0, 7), (9, 16), (32, 39)]
    with pytest.raises(ValueError, match="empty"):
        occurrences(text, [("name", " ")])
