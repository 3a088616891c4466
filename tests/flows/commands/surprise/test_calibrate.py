import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from flows.commands.surprise.cli import surprise_app
from tasks.surprise.policy import Policy
from tests.flows.commands.surprise.shards import secret_row, validation_rows, write_scores
from tests.tasks.surprise.score_tables import MODEL, score_row


def calibrate(*arguments: object) -> Result:
    return CliRunner().invoke(surprise_app, ["calibrate", *map(str, arguments)])


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return write_scores(tmp_path / "scores", validation_rows())


def test_the_policy_says_its_threshold_and_what_it_was_made_from(scores: Path, tmp_path: Path) -> None:
    output = tmp_path / "out" / "policy.json"
    result = calibrate(scores, "--windows", "fixed:1", "--unit", "character", "--recall", "0.95", "-o", output)
    assert result.exit_code == 0, result.output
    policy = Policy.from_json(output.read_text())
    assert policy.threshold == 5.0
    assert policy.reference.model == MODEL
    assert (policy.achieved.recall, policy.achieved.collateral, policy.achieved.auroc) == (1.0, 0.0, 1.0)
    assert policy.achieved.counts.targets == 7 + 4 + 5
    assert "100.0% of the private characters" in result.output
    assert output.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    report = json.loads(output.with_suffix(".report.json").read_text())
    assert [point["name"] for point in report["operating_points"]] == ["SM50", "SM70", "SM90", "SM95", "best F1"]
    assert report["mask_everything_f1"] == 2 * 16 / (16 + 16 + 20 + 16 + 12)


def test_labels_of_a_file_stand_in_place_of_the_scores_own(scores: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"document_id": "d0", "start": 3, "end": 4, "category": "blank"}]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pl.DataFrame(rows).write_parquet(tmp_path / "labels.parquet")
    for name in ("labels.jsonl", "labels.parquet"):
        output = tmp_path / f"{name}.json"
        result = calibrate(scores, "--labels", tmp_path / name, "--windows", "fixed:1", "--recall", "0.9", "-o", output)
        assert result.exit_code == 2, result.output
        assert "No acceptable point, because" in result.output
        assert not output.exists()
        output.write_text("of last week")
        again = calibrate(scores, "--labels", tmp_path / name, "--windows", "fixed:1", "--recall", "0.9", "-o", output)
        assert "is of an earlier calibration, and stays as it was" in " ".join(again.output.split())
        assert output.read_text() == "of last week"


def test_a_label_of_no_document_is_named(scores: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text('{"document_id": "d9", "start": 0, "end": 1}')
    error = calibrate(scores, "--labels", tmp_path / "labels.jsonl").exception
    assert "row 0: document 'd9'" in str(error)


def test_a_preset_is_the_papers_setting_and_options_change_it(tmp_path: Path) -> None:
    rows = [secret_row(i, f"key = hunter2x{i} ok", f"hunter2x{i}", group="ann") for i in range(3)]
    scores, output = write_scores(tmp_path / "scores", rows), tmp_path / "policy.json"
    result = calibrate(scores, "--preset", "code-pii", "--consensus", "2", "-o", output)
    assert result.exit_code == 0, result.output
    procedure = Policy.from_json(output.read_text()).procedure
    assert procedure.consensus == 2
    assert procedure.propagation is not None
    assert procedure.propagation.width == 4
    assert "code-quirks" in str(calibrate(scores, "--preset", "pii").exception)


def test_features_are_standardised_on_the_validation_part_and_frozen(scores: Path, tmp_path: Path) -> None:
    output = tmp_path / "policy.json"
    result = calibrate(
        scores, "--windows", "fixed:1", "--feature", "plain", "--feature", "plain:lines", "--best-f1", "-o", output
    )
    assert result.exit_code == 0, result.output
    score = Policy.from_json(output.read_text()).procedure.score
    assert score.kind == "combined"
    plain = score.combination.features[0]
    assert plain.mean == (39 * 1.0 + 16 * 5.0 + 9 * 0.5) / 64


def test_what_propagates_from_documents_that_nobody_looked_at_counts_as_it_will_when_masking(tmp_path: Path) -> None:
    labelled = secret_row(0, "key = hunter2 ok", "hunter2", group="ann")
    labelled["nll"][0]["values"] = [1.0] * 16  # missed by itself
    other = secret_row(1, "pw: hunter2", "hunter2", group="ann", labels=[], labelled=False)
    stranger = score_row(2, "hunter2", None, group="ben")
    scores, output = write_scores(tmp_path / "scores", [labelled, other, stranger]), tmp_path / "policy.json"
    options = ("--windows", "fixed:1", "--unit", "character", "--recall", "1", "-o", output)
    assert calibrate(scores, *options).exit_code == 2
    result = calibrate(scores, *options, "--propagate", "7")
    assert result.exit_code == 0, result.output
    policy = Policy.from_json(output.read_text())
    assert policy.threshold == 5.0
    assert policy.achieved.counts.model_dump() == {
        "true_positives": 7, "false_positives": 0, "false_negatives": 0, "true_negatives": 9
    }  # fmt: skip
    assert "1 labelled documents" in result.output
    judged = CliRunner().invoke(surprise_app, ["evaluate", str(scores), "--policy", str(output), "--json"])
    (figures,) = json.loads(judged.output)["methods"]
    assert (figures["true_positives"], figures["true_negatives"]) == (7, 9)


def test_scores_without_labels_are_refused_with_what_to_do(tmp_path: Path) -> None:
    scores = write_scores(tmp_path / "scores", [score_row(0, "abc")])
    assert "--labels" in str(calibrate(scores).exception)


def test_prompted_scores_that_are_not_there_are_refused(scores: Path) -> None:
    assert "no prompted scores" in str(calibrate(scores, "--score", "prompted").exception)


def test_a_contrast_states_both_prompts(tmp_path: Path) -> None:
    rows = []
    for index in range(2):
        row = secret_row(index, "key = hunter2 ok", "hunter2")
        values = row["nll"][0]["values"]
        row["nll"] = [{"name": "violating", "values": [1.0] * len(values)}, {"name": "compliant", "values": values}]
        rows.append(row)
    prompts = {"violating": "Retain.\n", "compliant": "Remove.\n"}
    scores, output = write_scores(tmp_path / "scores", rows, prompts=prompts), tmp_path / "policy.json"
    result = calibrate(scores, "--preset", "piibench-contrast", "-o", output)
    assert result.exit_code == 0, result.output
    policy = Policy.from_json(output.read_text())
    assert policy.conditioning.model_dump() == {"kind": "contrast", **prompts}
    assert policy.achieved.auroc > 0.95
