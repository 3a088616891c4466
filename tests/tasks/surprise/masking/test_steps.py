"""Selection and writing shard by shard; Prefect's tasks are called as the functions they wrap."""

import json
from pathlib import Path

import pytest

from tasks.surprise.calibrate import TargetRecall
from tasks.surprise.masking.steps import MaskJob, select_all, write_shard
from tasks.surprise.metrics import Counts
from tasks.surprise.policy import Achieved, Policy, PolicyMismatch, Reference
from tasks.surprise.procedure import FixedWindows, Procedure, Propagation
from tasks.surprise.rules import GlobalRule
from tests.flows.commands.surprise.shards import secret_row, write_scores
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row
from tests.tasks.surprise.tokenizers_of import bytes_tokenizer

COUNTS = Counts(true_positives=1, false_positives=0, false_negatives=0, true_negatives=1)


def policy(procedure: Procedure | None = None, model: str = MODEL) -> Policy:
    return Policy(
        reference=Reference(model=model, tokenizer_sha256=TOKENIZER),
        procedure=procedure or Procedure(windows=FixedWindows(width=1), rule=GlobalRule()),
        threshold=5.0,
        goal=TargetRecall(recall=0.95),
        validation_sha256="0" * 64,
        achieved=Achieved(
            unit="token", counts=COUNTS, recall=1.0, collateral=0.0, f1=1.0, mask_everything_f1=0.5, auroc=1.0
        ),
    )


def job(tmp_path: Path, **changed: object) -> MaskJob:
    rows = [
        secret_row(0, "pin 4711 ok", "4711", group="ann"),
        secret_row(1, "x = ñandú\n", "ñandú", group="ann", supervised=[{"start": 4, "end": 7}]),
        score_row(2, "again 4711", group="ann"),
        score_row(3, "his 4711", group="ben"),
    ]
    write_scores(tmp_path / "scores", rows)
    given: dict[str, object] = {"policy": policy(), "redact": "replace"} | changed
    places = {"scores_root": tmp_path, "scores": "scores", "root": tmp_path, "dataset": "out"}
    return MaskJob.model_validate(places | given)


def run(asked: MaskJob) -> list[str]:
    select_all.fn(asked)
    return [write_shard.fn(shard.name, asked).shard for shard in asked.source().manifest.shards()]


def test_texts_for_release_have_what_was_masked_replaced_by_its_kind(tmp_path: Path) -> None:
    asked = job(tmp_path)
    run(asked)
    rows = asked.target().read("redacted").to_pylist()
    assert [row["text"] for row in rows] == ["pin [PASSWORD] ok", "x = [PASSWORD]dú\n", "again 4711", "his 4711"]
    assert rows[0]["redactions"] == [{"start": 4, "end": 8, "replacement": "[PASSWORD]"}]
    assert (rows[0]["masked_characters"], rows[0]["characters"]) == (4, 11)


def test_propagation_crosses_shards_and_stays_within_a_group(tmp_path: Path) -> None:
    procedure = Procedure(windows=FixedWindows(width=1), rule=GlobalRule(), propagation=Propagation(width=4))
    asked = job(tmp_path, policy=policy(procedure))
    run(asked)
    assert asked.target().read("redacted")["text"].to_pylist()[2:] == ["again [REDACTED]", "his 4711"]
    (spread,) = json.loads((asked.local / "most-spread.json").read_text())
    assert spread == {"text": "4711", "occurrences": 2, "tokens_added": 4}
    assert (asked.local / "examples.tsv").read_text().startswith("d0\tpin ⟦4711⟧ ok\n")


def test_token_masks_are_those_of_the_model_to_be_trained(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    bytes_tokenizer(merges=[("4", "7"), ("Ġ", "47")]).save(str(path))
    asked = job(tmp_path, redact=None, tokenizer=path)
    run(asked)
    first, second, *_ = asked.target().read("masks").to_pylist()
    # p i n _47 1 1 _ o k: the space before the number is in a masked token
    assert first["mask"] == [False, False, False, True, True, True, False, False, False]
    assert first["supervised"] == [True] * 9
    # x _ = _ ñ(2 bytes) a n d ú(2) LF, supervised [4, 7): ñ, a, n
    assert second["supervised"] == [False] * 4 + [True] * 4 + [False] * 4
    assert second["mask"] == second["supervised"]


def test_what_was_not_scored_is_not_released(tmp_path: Path) -> None:
    row = score_row(0, "seen")
    write_scores(tmp_path / "scores", [row | {"text": "seen unseen", "covered": 4}])
    asked = MaskJob(
        scores_root=tmp_path, scores="scores", root=tmp_path, dataset="out", policy=policy(), redact="replace"
    )
    run(asked)
    assert asked.target().read("redacted")["text"].to_pylist() == ["seen [REDACTED]"]


def test_what_is_there_is_not_made_again_until_the_policy_changes(tmp_path: Path) -> None:
    asked = job(tmp_path)
    assert select_all.fn(asked) == 2
    assert select_all.fn(asked) == 0
    assert select_all.fn(asked.model_copy(update={"policy": policy().model_copy(update={"threshold": 4.0})})) == 2


def test_scores_of_another_model_are_not_masked(tmp_path: Path) -> None:
    with pytest.raises(PolicyMismatch, match="another"):
        select_all.fn(job(tmp_path, policy=policy(model="another")))
