"""The three commands on a tiny model and a tiny corpus."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.errors import Code, code_of
from flows.commands.evaluate.measured import Asked, Drawing, settings_for
from flows.config import ConfigError
from tests.tasks.measuring.small_corpus import KEYS, write_corpus
from tests.tasks.training.chatml import save_tiny


def evaluate(tmp_path: Path, command: str, *options: str, quirks: bool = False) -> dict[str, Any]:
    if not (tmp_path / "model").exists():
        save_tiny(tmp_path / "model")
    corpus = write_corpus(tmp_path / "corpus", quirks=quirks)
    asked = [
        "evaluate",
        command,
        str(tmp_path / "model"),
        "--corpus",
        str(corpus),
        "-o",
        str(tmp_path / "out"),
        "--json",
    ]
    result = CliRunner().invoke(app, [*asked, *options], catch_exceptions=False)
    assert result.exit_code == 0
    assert not any(value in result.output for value in KEYS.values())
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_an_attack_writes_figures_and_a_page(tmp_path: Path) -> None:
    found = evaluate(tmp_path, "extraction", "--samples", "12")
    assert [rate["budget"] for rate in found["rates"] if rate["kind"] == "all"] == [1, 8, 12]
    assert {value["id"] for value in found["values"]} == set(KEYS)
    assert found["settings"]["regime"] == "fine_tuning"
    assert json.loads((tmp_path / "out" / "extraction.json").read_text()) == found
    assert "<svg" in (tmp_path / "out" / "extraction.html").read_text()
    assert evaluate(tmp_path, "extraction", "--samples", "12") == found
    documents = evaluate(tmp_path, "extraction", "--samples", "1", "--form", "documents", "--tokens", "alone")
    assert documents["settings"]["regime"] == "pretraining"


def test_utility_runs_answers_and_scores_gold_ones(tmp_path: Path) -> None:
    found = evaluate(tmp_path, "utility", "--samples", "2", "--most-tokens", "4")
    assert [rate["first"]["of"] for rate in found["pass_at"]] == [2, 2]
    assert sum(found["endings"].values()) == 4
    assert found["gold"]["answers"] == 2
    assert 0 < found["gold"]["mean_nll"] < 50


def test_quirks_are_looked_for_in_five_answers(tmp_path: Path) -> None:
    found = evaluate(tmp_path, "quirks", "--most-tokens", "4", quirks=True)
    assert (found["settings"]["temperature"], found["settings"]["top_p"], found["answers"]) == (0.4, 0.95, 10)
    assert found["quirks"]["semicolons"]["of"] == 2


def asked(corpus: Path, form: Any) -> Asked:
    return Asked(model="m", corpus=corpus, output=corpus, form=form, tokenizer=None, device=None)


def test_the_papers_settings_go_with_the_corpus(tmp_path: Path) -> None:
    pii, quirks = write_corpus(tmp_path / "pii"), write_corpus(tmp_path / "quirks", quirks=True)
    plain = Drawing(samples=None, temperature=None, top_p=None, most_tokens=None, seed=3)
    drawn = [settings_for(asked(corpus, form), plain) for corpus in (pii, quirks) for form in ("chats", "documents")]
    assert [(each.samples, each.temperature, each.top_p, each.form, each.seed) for each in drawn] == [
        (5, 1.0, 1.0, "chats", 3), (5, 1.0, 1.0, "documents", 3),
        (5, 0.4, 0.95, "chats", 3), (16, 1.0, 1.0, "documents", 3),
    ]  # fmt: skip
    other = Drawing(samples=7, temperature=0.0, top_p=None, most_tokens=9, seed=0)
    found = settings_for(asked(quirks, "chats"), other)
    assert (found.samples, found.temperature, found.top_p, found.most_tokens) == (7, 0.0, 0.95, 9)


def test_a_corpus_of_another_kind_is_told_before_a_model_is_loaded(tmp_path: Path) -> None:
    from flows.commands.evaluate import quirks

    nothing = Drawing(samples=None, temperature=None, top_p=None, most_tokens=None, seed=0)
    with pytest.raises(ConfigError, match=r"display\.parquet: no such file") as told:
        quirks.run(asked(write_corpus(tmp_path), "chats"), nothing, as_json=True)
    assert code_of(told.value) == Code.USAGE
