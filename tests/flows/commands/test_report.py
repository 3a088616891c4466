import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from tests.flows.conftest import MadeSet

run = CliRunner()


@pytest.fixture
def copied(made_set: MadeSet, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_set.folder, tmp_path / "tiny", ignore=shutil.ignore_patterns("report.html")))


def test_the_report_shows_figures_a_marked_record_and_the_way_to_the_page(copied: Path) -> None:
    result = run.invoke(app, ["report", str(copied)])
    assert result.exit_code == 0, result.stderr
    assert "12 of 12 rows" in result.stdout
    assert any(f"]{group}" in result.stdout for group in "¹²³⁴⁵⁶⁷⁸⁹")  # attributes of the record
    assert f"The page: {copied / 'report.html'}" in result.stdout
    assert f"privasis shards verify {copied}" in result.stdout
    page = (copied / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "tiny" in page


def test_as_json_the_figures_are_printed_and_nothing_is_written(copied: Path) -> None:
    result = run.invoke(app, ["report", str(copied), "--json"])
    figures = json.loads(result.stdout)
    assert (figures["records"], figures["rejects"]) == (12, 0)
    assert sum(each["records"] for each in figures["subcategories"]) == 12
    assert not (copied / "report.html").exists()


def test_a_page_does_not_make_a_data_set_unsound(copied: Path) -> None:
    assert run.invoke(app, ["report", str(copied)]).exit_code == 0
    assert run.invoke(app, ["shards", "verify", str(copied)]).exit_code == 0


def test_sets_are_compared_beside_the_papers(made_set: MadeSet, copied: Path, tmp_path: Path) -> None:
    other = copied.rename(copied.with_name("other"))
    page = tmp_path / "compare.html"
    result = run.invoke(app, ["compare", str(made_set.folder), str(other), "--html", str(page)])
    assert result.exit_code == 0, result.stderr
    assert "full" in result.stdout
    assert "other" in page.read_text(encoding="utf-8")
    as_json = json.loads(run.invoke(app, ["compare", str(made_set.folder), str(other), "--json"]).stdout)
    ours = [row for row in as_json["Table 9"] if row["source"] == "ours"]
    assert [(row["name"], row["records"]) for row in ours] == [("tiny", 12), ("other", 12)]
    assert ours[0]["vendi"] == ours[1]["vendi"]


def test_sets_of_one_name_are_told_apart_by_their_folders(made_set: MadeSet, copied: Path) -> None:
    as_json = json.loads(run.invoke(app, ["compare", str(made_set.folder), str(copied), "--json"]).stdout)
    names = [row["name"] for row in as_json["Table 9"] if row["source"] == "ours"]
    assert names == [str(made_set.folder.resolve()), str(copied.resolve())]


def test_a_set_is_not_compared_with_itself(made_set: MadeSet) -> None:
    result = run.invoke(app, ["compare", str(made_set.folder), str(made_set.folder / ".")])
    assert result.exit_code == 2
    assert "named twice" in result.stderr
