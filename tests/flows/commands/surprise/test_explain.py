from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from flows.commands.surprise.cli import surprise_app
from tests.flows.commands.surprise.shards import validation_rows, write_scores


def invoke(command: str, *arguments: object) -> Result:
    return CliRunner().invoke(surprise_app, [command, *map(str, arguments)])


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return write_scores(tmp_path / "scores", validation_rows())


def test_a_scored_document_is_shown_and_written_as_a_page(scores: Path, tmp_path: Path) -> None:
    policy, page = tmp_path / "policy.json", tmp_path / "d0.html"
    invoke("calibrate", scores, "--windows", "fixed:1", "-o", policy)
    result = invoke("explain", scores, "--document", "d0", "--policy", policy, "--html", page)
    assert result.exit_code == 0, result.output
    assert "key = ⟦hunter2⟧ ok" in result.output
    assert "recall 100.0% at a collateral of 0.0% of characters" in page.read_text()


def test_without_a_policy_there_are_colours_alone(scores: Path) -> None:
    result = invoke("explain", scores, "--document", "d1")
    assert result.exit_code == 0, result.output
    assert "the pin is 4711." in result.output


def test_what_is_missing_is_asked_for(scores: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    assert "--policy" in str(invoke("explain", file).exception)
    assert "--document, such as d0" in str(invoke("explain", scores).exception)
    assert "no document 'd9'" in str(invoke("explain", scores, "--document", "d9").exception)


def test_a_folder_beside_that_of_the_scores_is_told_which_one_is_meant(scores: Path, tmp_path: Path) -> None:
    for near in (scores.parent, scores / "scores"):
        assert f"name {scores}" in str(invoke("explain", near, "--document", "d0").exception)
    assert "the folder that `privasis surprise score` named" in str(
        invoke("explain", tmp_path / "SCORES", "--model", "smollm2-135m").exception
    )


def test_scores_are_no_texts_to_be_scored(scores: Path, tmp_path: Path) -> None:
    assert f"{scores}: was scored already" in str(invoke("score", scores, "--root", tmp_path).exception)


def test_a_file_is_scored_as_it_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.tasks.surprise.scoring.tiny import chat_tokenizer, qwen3

    qwen3().save_pretrained(tmp_path / "tiny")
    chat_tokenizer("").save_pretrained(tmp_path / "tiny")
    file, page = tmp_path / "a.py", tmp_path / "a.html"
    file.write_bytes(b"key = 1\r\nx = 2\n")
    result = invoke("explain", file, "--model", tmp_path / "tiny", "--html", page)
    assert result.exit_code == 0, result.output
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())  # a byte order mark is none of the text, as in ``score``
    assert invoke("explain", file, "--model", tmp_path / "tiny", "--html", page).output == result.output
    assert "key = 1\nx = 2" in result.output
    assert "tiny@sha256:" in page.read_text()


def test_the_folder_of_the_page_is_made_before_anything_is_scored(scores: Path, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "d0.html"
    assert invoke("explain", scores, "--document", "d0", "--html", page).exit_code == 0
    assert page.read_text().startswith("<!doctype html>")


def test_an_option_that_would_do_nothing_is_refused(scores: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "--model tiny: " in str(invoke("explain", scores, "--document", "d0", "--model", "tiny").exception)
    assert "--document d0: " in str(invoke("explain", tmp_path / "a.py", "--document", "d0").exception)
