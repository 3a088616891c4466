import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from flows.commands.surprise.cli import surprise_app
from tests.flows.commands.surprise.shards import secret_row, validation_rows, write_scores
from tests.tasks.surprise.score_tables import score_row


def invoke(command: str, *arguments: object) -> Result:
    return CliRunner().invoke(surprise_app, [command, *map(str, arguments)])


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    scores, output = write_scores(tmp_path / "validation", validation_rows()), tmp_path / "sm95.json"
    assert invoke("calibrate", scores, "--windows", "fixed:1", "-o", output).exit_code == 0
    return output


@pytest.fixture
def test_scores(tmp_path: Path) -> Path:
    """Twenty characters: a secret of four that is found, a surprising word of five that is none, a blank, two words."""
    row = secret_row(0, "pass 1234 Xylop rest", "1234", strata=[{"name": "language", "value": "text"}])
    row["nll"][0]["values"][10:15] = [5.0] * 5
    other = secret_row(1, "pw: abcd", "abcd", strata=[{"name": "language", "value": "toml"}])
    other["nll"][0]["values"][-2:] = [2.0] * 2  # half of this secret is missed
    return write_scores(tmp_path / "test", [row, other])


def test_counts_are_pooled_over_documents(policy: Path, test_scores: Path, tmp_path: Path) -> None:
    output = tmp_path / "figures.json"
    result = invoke("evaluate", test_scores, "--policy", policy, "-o", output)
    assert result.exit_code == 0, result.output
    (figures,) = json.loads(output.read_text())["methods"]
    counts = {
        name: figures[name] for name in ("true_positives", "false_positives", "false_negatives", "true_negatives")
    }
    assert counts == {"true_positives": 6, "false_positives": 5, "false_negatives": 2, "true_negatives": 15}
    assert figures["f1"] == 12 / (12 + 5 + 2)
    assert figures["mask_everything_f1"] == 16 / (16 + 20)
    # 6 targets of 5 nats against 20 others of which 5 tie, 2 of 2 nats against 15 that are lower
    assert figures["auroc"] == (6 * (15 + 2.5) + 2 * 15) / (8 * 20)
    assert figures["categories"]["password"]["f1"] == figures["f1"]
    assert "sm95" in result.output


def test_policies_stand_side_by_side(policy: Path, test_scores: Path, tmp_path: Path) -> None:
    other = tmp_path / "lines.json"
    invoke("calibrate", tmp_path / "validation", "--windows", "lines", "--best-f1", "-o", other)
    result = invoke("evaluate", test_scores, "--policy", policy, "--policy", other, "--unit", "line", "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.output)
    assert figures["unit"] == "line"
    assert [each["method"] for each in figures["methods"]] == ["sm95", "lines"]


def test_validation_and_application_curves_are_drawn_with_both_aurocs(
    policy: Path, test_scores: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "new" / "roc.png"
    validation = tmp_path / "validation"
    result = invoke(
        "evaluate", test_scores, "--policy", policy, "--method", "oracle", "--validation", validation,
        "--picture", picture, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    figures, oracle = json.loads(result.output)["methods"]
    assert figures["validation_auroc"] == 1.0
    assert oracle["validation_auroc"] is None  # one point, no curve


def test_thresholds_of_one_language_are_used_on_another(policy: Path, test_scores: Path, tmp_path: Path) -> None:
    validation = tmp_path / "validation"
    result = invoke(
        "evaluate", test_scores, "--policy", policy, "--validation", validation, "--transfer", "language", "--json"
    )
    assert result.exit_code == 0, result.output
    table = json.loads(result.output)["transfer"]
    assert table["held_out"]
    counts = {(each["calibrated_on"], each["used_on"]): each["f1"] for each in table["counts"]}
    assert counts == {
        ("toml", "toml"): 4 / (4 + 2),
        ("toml", "text"): 8 / (8 + 5),
        ("text", "toml"): 4 / (4 + 2),
        ("text", "text"): 8 / (8 + 5),
    }
    shown = invoke("evaluate", test_scores, "--policy", policy, "--transfer", "language").output
    assert "no held-out figures" in shown


def test_an_unknown_stratum_names_those_there_are(policy: Path, test_scores: Path) -> None:
    error = invoke("evaluate", test_scores, "--policy", policy, "--transfer", "repository").exception
    assert "category, language" in str(error)


def test_scores_of_another_model_are_refused(policy: Path, tmp_path: Path) -> None:
    changed = json.loads(policy.read_text())
    changed["reference"]["model"] = "another"
    policy.write_text(json.dumps(changed))
    scores = write_scores(tmp_path / "test", [score_row(0, "abc", None, labelled=True)])
    assert "calibrated with" in str(invoke("evaluate", scores, "--policy", policy).exception)


def test_other_methods_stand_beside_a_policy(policy: Path, test_scores: Path) -> None:
    names = ["oracle", "random", "random:0.5", "stm:3", "goldfish:3", "policy&oracle"]
    asked = [part for name in names for part in ("--method", name)]
    result = invoke("evaluate", test_scores, "--policy", policy, *asked, "--json")
    assert result.exit_code == 0, result.output
    figures = {each["method"]: each for each in json.loads(result.output)["methods"]}
    assert {name for name, each in figures.items() if each["auroc"] is None} == figures.keys() - {"sm95"}
    assert figures["oracle"]["f1"] == 1.0
    masked = {name: each["true_positives"] + each["false_positives"] for name, each in figures.items()}
    assert (masked["random"], masked["random 0.5"]) == (11, 14)  # the budget of the policy, of 28 tokens; half of them
    assert (figures["STM 3"]["true_positives"], masked["STM 3"]) == (8, 13)  # 2 nats: perplexity 7.4, 1 nat: 2.7
    both = next(each for name, each in figures.items() if "&" in name)
    assert (both["true_positives"], both["false_positives"]) == (6, 0)
    assert "credsweeper" in str(invoke("evaluate", test_scores, "--method", "luck").exception)


def test_a_policy_is_tuned_on_what_another_method_leaves(policy: Path, test_scores: Path, tmp_path: Path) -> None:
    validation = tmp_path / "validation"
    asked = ["--policy", policy, "--method", "random:0.3~policy", "--validation", validation, "--json"]
    result = invoke("evaluate", test_scores, *asked)
    assert result.exit_code == 0, result.output
    alone, both = json.loads(result.output)["methods"]
    assert both["method"].startswith("random 0.3 + sm95 at 5")
    assert both["true_positives"] >= alone["true_positives"]
    assert "--validation" in str(
        invoke("evaluate", test_scores, "--policy", policy, "--method", "stm~policy").exception
    )


def test_validation_scores_of_another_model_are_refused_too(policy: Path, test_scores: Path, tmp_path: Path) -> None:
    rows = [score_row(0, "abc", None, labelled=True, model="another")]
    validation = write_scores(tmp_path / "other", rows, model="another")
    for asked in (["--picture", tmp_path / "roc.png"], ["--transfer", "language"]):
        result = invoke("evaluate", test_scores, "--policy", policy, "--validation", validation, *asked)
        assert "calibrated with" in str(result.exception)


def test_a_limit_on_plain_scores_is_not_put_to_prompted_ones(tmp_path: Path) -> None:
    rows = [secret_row(0, "pass 1234", "1234")]
    rows[0]["nll"][0]["name"] = "prompted"
    scores = write_scores(tmp_path / "prompted", rows, prompts={"prompted": "P"})
    assert "NLLs of the text alone" in str(invoke("evaluate", scores, "--method", "stm").exception)
    assert invoke("evaluate", scores, "--method", "oracle").exit_code == 0

    both = [secret_row(0, "pass 1234", "1234"), score_row(1, "nothing", None, labelled=True)]
    for row in both:
        row["nll"].append({"name": "prompted", "values": row["nll"][0]["values"]})
    scores, policy = write_scores(tmp_path / "both", both, prompts={"prompted": "P"}), tmp_path / "prompted.json"
    asked = ["--windows", "fixed:1", "--score", "prompted", "-o", policy]
    assert invoke("calibrate", scores, *asked).exit_code == 0
    assert invoke("evaluate", scores, "--policy", policy, "--method", "stm").exit_code == 0
    joined = invoke("evaluate", scores, "--policy", policy, "--method", "stm|policy")
    assert "NLLs of the text alone" in str(joined.exception)


def test_policies_of_one_name_are_told_apart_by_their_folders(policy: Path, test_scores: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / policy.name
    other.parent.mkdir()
    other.write_bytes(policy.read_bytes())
    result = invoke("evaluate", test_scores, "--policy", policy, "--policy", other, "--json")
    assert [each["method"] for each in json.loads(result.output)["methods"]] == [
        str(tmp_path / "sm95"),
        str(tmp_path / "other" / "sm95"),
    ]
