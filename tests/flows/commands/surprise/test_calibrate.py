import json
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from flows.commands.surprise import opening
from flows.commands.surprise.cli import surprise_app
from tasks.surprise.policy import Policy
from tasks.surprise.store.steps import read_pieces
from tests.flows.commands.surprise.shards import secret_row, validation_rows, write_scores, write_without_documents
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
        judged = CliRunner().invoke(surprise_app, ["evaluate", str(scores), "--policy", str(output)])
        assert "calibration found no acceptable point: " in str(judged.exception)
        output.with_suffix(".report.json").write_text("{}")
        judged = CliRunner().invoke(surprise_app, ["evaluate", str(scores), "--policy", str(output)])
        assert "no such policy; `privasis surprise calibrate` makes one" in str(judged.exception)
        output.write_text("of last week")
        again = calibrate(scores, "--labels", tmp_path / name, "--windows", "fixed:1", "--recall", "0.9", "-o", output)
        assert "is of an earlier calibration, and stays as it was" in " ".join(again.output.split())
        assert output.read_text() == "of last week"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"document_id": "d9", "start": 0, "end": 1}', "row 0: document 'd9' is not among the scored ones"),
        (b'{"document_id": "d0", "start": 0, "end": 99}', "row 0: document 'd0'"),
        (b'{"document_id": "d0", "start": 0, "end": 1}\n{torn', "line 2 is no JSON in UTF-8"),
        (b"\n\xff\xfe", "line 2 is no JSON in UTF-8"),
        (b"[1]", "line 1 is no JSON object"),
        (None, "no such file of labels"),
    ],
)
def test_labels_that_cannot_be_used_are_named_by_file_and_place(
    scores: Path, tmp_path: Path, content: bytes | None, told: str
) -> None:
    labels = tmp_path / "labels.jsonl"
    if content is not None:
        labels.write_bytes(content)
    error = calibrate(scores, "--labels", labels).exception
    assert str(error).startswith(str(labels))
    assert told in str(error)


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


def test_pieces_are_calibrated_and_judged_as_all_at_once(
    scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups stay whole: what propagates from one shard to another does so in pieces of a document, too."""
    rows = [secret_row(i, f"key = hunter{i} ok", f"hunter{i}", group=f"g{i % 3}") for i in range(7)]
    rows[5]["nll"][0]["values"] = [1.0] * len(rows[5]["text"])  # its secret is masked by propagation alone
    rows[5]["text"] = rows[2]["text"]
    rows[6]["labelled"], rows[6]["labels"] = False, []
    many = write_scores(tmp_path / "many", rows, shard_size=2)
    figures = []
    for name in ("whole", "pieces"):
        output = tmp_path / f"{name}.json"
        options = ["--windows", "fixed:2", "--unit", "character", "--propagate", "2", "--recall", "1", "-o", output]
        both = ["--windows", "fixed:2", "--feature", "plain", "--feature", "plain:lines", "--recall", "0.3"]
        assert calibrate(many, *options).exit_code == 0
        assert calibrate(many, *both, "-o", tmp_path / f"{name}-both.json").exit_code == 0
        asked = [
            *("--policy", output, "--method", "random:0.5", "--method", "random:0.3~policy", "--method", "random"),
            *("--validation", scores, "--transfer", "category", "--in-documents", "--json"),
        ]
        judged = CliRunner().invoke(surprise_app, ["evaluate", str(many), *map(str, asked)])
        assert judged.exit_code == 0, judged.output
        figures.append(judged.output.replace(name, ""))
        monkeypatch.setattr(opening, "read_pieces", partial(read_pieces, tokens=1))
    assert figures[0] == figures[1]
    first, second = (Policy.from_json((tmp_path / f"{name}.json").read_text()) for name in ("whole", "pieces"))
    assert first == second
    combined = [
        Policy.from_json((tmp_path / f"{name}-both.json").read_text()).procedure.score for name in ("whole", "pieces")
    ]
    assert combined[0].kind == combined[1].kind == "combined"
    for one, other in zip(combined[0].combination.features, combined[1].combination.features, strict=True):
        assert (one.mean, one.deviation) == pytest.approx((other.mean, other.deviation), rel=1e-12)


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


@pytest.mark.parametrize("name", ["policy.png", "policy", "policy.report"])
def test_a_policy_is_never_written_where_its_picture_would_be(scores: Path, tmp_path: Path, name: str) -> None:
    told = calibrate(scores, "-o", tmp_path / name).exception
    assert f"{tmp_path / name}: a policy is JSON: name it policy.json" in str(told)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("content", [b"\x89PNG", b"[1]", b"", b'{"version": "x"}'])
def test_a_file_that_is_no_policy_is_told_in_a_message(scores: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.json").write_bytes(content)
    told = str(
        CliRunner().invoke(surprise_app, ["evaluate", str(scores), "--policy", str(tmp_path / "p.json")]).exception
    )
    assert told.startswith(f"{tmp_path / 'p.json'}: ")
    assert ": :" not in told
    assert "calibrate" in told


def test_scores_without_a_document_are_told_as_such(tmp_path: Path) -> None:
    scores = write_without_documents(tmp_path / "scores")
    asked = ["evaluate", str(scores), "--method", "oracle"], ["explain", str(scores), "--document", "d0"]
    for error in (calibrate(scores).exception, *(CliRunner().invoke(surprise_app, each).exception for each in asked)):
        assert f"no row of its input could be scored: {scores / 'score_rejects'}" in str(error)
