import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.commands.surprise import mask
from flows.commands.surprise.cli import surprise_app
from flows.config import ConfigError
from flows.surprise_mask import surprise_mask
from tests.flows.commands.surprise.shards import validation_rows, write_scores


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    scores, output = write_scores(tmp_path / "scores", validation_rows()), tmp_path / "policy.json"
    asked = ["calibrate", str(scores), "--windows", "fixed:1", "--propagate", "4", "-o", str(output)]
    assert CliRunner().invoke(surprise_app, asked).exit_code == 0
    return output


def test_the_flow_writes_every_shard_and_the_report_holds_figures_only(
    policy: Path, tmp_path: Path, prefect_server: None, capsys: pytest.CaptureFixture[str]
) -> None:
    job = mask.job_of(tmp_path / "scores", policy, tmp_path / "release", None, "replace")
    summary = surprise_mask(job)
    mask.report(job, summary, as_json=False)
    shown = capsys.readouterr().out
    assert "25.0% of 64 tokens" in shown
    assert "hunter2" not in shown
    assert job.target().read("redacted")["text"].to_pylist()[0] == "key = [PASSWORD] ok"
    figures = json.loads((tmp_path / "release" / "redacted-report.json").read_text())
    assert (figures["masked_tokens"], figures["removed_characters"], figures["shards"]) == (16, 16, 2)


def test_masks_need_a_tokenizer_or_a_way_to_redact(policy: Path, tmp_path: Path) -> None:
    for tokenizer, how in ((None, None), (tmp_path, "remove")):
        with pytest.raises(ConfigError, match="one of them"):
            mask.job_of(tmp_path / "scores", policy, tmp_path / "out", tokenizer, how)  # type: ignore[arg-type]


def test_a_policy_for_other_scores_is_refused_before_anything_starts(policy: Path, tmp_path: Path) -> None:
    changed = json.loads(policy.read_text()) | {"conditioning": {"kind": "prompted", "prompt": "P"}}
    policy.write_text(json.dumps(changed))
    with pytest.raises(ConfigError, match="no prompted scores"):
        mask.job_of(tmp_path / "scores", policy, tmp_path / "out", None, "remove")


def test_a_release_is_not_written_beside_the_texts_that_it_is_made_of(policy: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name another folder"):
        mask.job_of(tmp_path / "scores", policy, tmp_path / "out" / ".." / "scores", None, "remove")


def test_a_file_that_is_no_tokenizer_is_told(policy: Path, tmp_path: Path) -> None:
    for content in (b"\x89PNG", b"{}"):
        (tmp_path / "tokenizer.json").write_bytes(content)
        with pytest.raises(ConfigError, match=r"tokenizer\.json: no tokenizer.*give the folder of the model"):
            mask.job_of(tmp_path / "scores", policy, tmp_path / "out", tmp_path, None)
