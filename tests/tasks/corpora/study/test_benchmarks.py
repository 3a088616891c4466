from pathlib import Path

from tasks.corpora.study.benchmarks import BENCHMARKS
from tests.tasks.corpora.files import write_lines


def test_piibench_calibrates_on_its_official_validation_part_and_is_judged_on_its_test(tmp_path: Path) -> None:
    row = {"tokens": ["Ann", "came"], "labels": ["B-NAME", "O"], "source": "s"}
    write_lines(tmp_path / "val.jsonl", [row])
    write_lines(tmp_path / "test.jsonl", [row, row])
    prepared = BENCHMARKS["piibench"].prepare(tmp_path, lambda program: False)
    (fold,) = prepared.folds
    assert fold.validation == ("validation", frozenset({"piibench/val/0"}))
    assert fold.applications == {"application": frozenset({"piibench/test/0", "piibench/test/1"})}
    assert [document.id for document in prepared.documents] == ["piibench/val/0", "piibench/test/0", "piibench/test/1"]
    assert [each.found for each in prepared.counted] == [1, 2, 2]
