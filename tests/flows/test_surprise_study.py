"""A benchmark of a few rows from its files to its page, scored by a tiny random model."""

import json
from pathlib import Path

import pytest

from flows.surprise_study import StudyFiles, prepare, scoring_seconds, timed, write_documents, write_study
from tasks.corpora import creddata
from tasks.corpora.study.benchmarks import BENCHMARKS, Prepared
from tasks.surprise.documents import Document
from tasks.surprise.reading.input import read
from tasks.surprise.reading.steps import InputConfig
from tasks.surprise.score_rows import ScoredDocument, tables
from tasks.surprise.scored import ScoredSet
from tasks.surprise.scoring.scorer import PLAIN, Text
from tests.tasks.corpora.files import write_lines
from tests.tasks.surprise.character_scorer import CharacterScorer

VALUES = ("hunter2", "zQ9!kM2x", "1c1c7a9e", "s3cr3t")


def contexts(folder: Path) -> Path:
    rows = []
    for repository in range(4):
        for number in range(3):
            text = f"user = me\npassword = '{VALUES[(repository + number) % 4]}'\nport = 80\n"
            start = text.index("'") + 1
            target = [start, text.index("'", start), "Password" if number else "Token"]
            rows.append(
                {
                    "id": f"{repository}-{number}",
                    "repo": f"r{repository}",
                    "file": f"data/r{repository}/a.{('py', 'js', 'yml', 'go')[repository]}",
                    "gt": "T" if number < 2 else "F",
                    "category": "Password",
                    "text": text,
                    "targets": [target] if number < 2 else [],
                }
            )
    write_lines(folder / creddata.FILE, rows)
    return folder


def read_back(prepared: Prepared, files: StudyFiles) -> list[Document]:
    columns = write_documents(prepared.documents, files.documents)
    rows = InputConfig(paths=(files.documents,), format="parquet", columns=columns).open()
    items = read(rows.slices(0, rows.rows)).items
    return [item for item in items if isinstance(item, Document)]


def scored_by_characters(documents: list[Document]) -> ScoredSet:
    scorer = CharacterScorer()
    results = scorer.score([Text(document.text) for document in documents], (PLAIN,))
    outcomes = [ScoredDocument(*pair) for pair in zip(documents, results, strict=True)]
    return ScoredSet(tables(outcomes, 0, scorer.reference)["scores"], scorer.reference, "b" * 64)


def test_documents_come_back_from_the_table_as_they_were(tmp_path: Path) -> None:
    prepared = prepare(BENCHMARKS["creddata"], contexts(tmp_path))
    assert read_back(prepared, StudyFiles.under(tmp_path / "out")) == list(prepared.documents)


def test_the_page_the_figures_and_the_picture_are_written(tmp_path: Path) -> None:
    benchmark = BENCHMARKS["creddata"]
    prepared = prepare(benchmark, contexts(tmp_path))
    files = StudyFiles.under(tmp_path / "out")
    scored = scored_by_characters(read_back(prepared, files))
    with timed(files.timing):
        pass
    write_study(benchmark, prepared, scored, ("stm", "goldfish:3"), files)
    page = files.page.read_text()
    assert "12 contexts (**1,864 published**)" in page
    assert "ours characters; the paper's" in page
    assert "| application | SM |" in page
    assert "| application | Goldfish k=3 |" in page
    assert "| application | OPF (paper only) |" in page
    figures = json.loads(files.figures.read_text())
    assert {row["method"] for row in figures["rows"]} == {"SM", "stm", "Goldfish k=3"}
    assert {row["fold"] for row in figures["rows"]} == {0, 1, 2}
    assert figures["effort"]["tokens"] == sum(len(document.text) for document in prepared.documents)
    assert files.picture.read_bytes().startswith(b"\x89PNG")


def test_scoring_time_adds_up_over_interrupted_runs(tmp_path: Path) -> None:
    timing = tmp_path / "timing.json"
    assert scoring_seconds(timing) == 0.0
    timing.write_text(json.dumps({"scoring_s": 100.0}))
    with pytest.raises(KeyboardInterrupt), timed(timing):
        raise KeyboardInterrupt
    assert 100.0 < scoring_seconds(timing) < 101.0
