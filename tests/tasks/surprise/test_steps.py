from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infra.shards.ranges import ShardRange
from infra.shards.verify import verify
from tasks.surprise.policy import Contrasted, Prompted, Reference, Unprompted
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reference.steps import ModelChanged
from tasks.surprise.scoring.scorer import PLAIN, Pass
from tasks.surprise.store.steps import read_scores
from tests.tasks.surprise.character_scorer import CharacterScorer, nll
from tests.tasks.surprise.small_scoring import Died, MortalScorer, Run, jsonl

TEXTS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
PROMPTED = Pass("prompted", "look:")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "in.jsonl", [{"text": text} for text in TEXTS])


def texts_read(run: Run) -> list[str]:
    return [text for text, _ in run.scorer.read]


def test_every_row_is_scored_or_a_reject_with_its_place(tmp_path: Path) -> None:
    rows: list[Any] = [{"text": "one"}, b"{", {"text": "two"}, {"text": None}, {"text": "\N{KEY}"}]
    run = Run(jsonl(tmp_path / "in.jsonl", rows))
    receipts = run.score()
    scores, rejects = run.tables()
    assert [(row["document_id"], row["index"], row["text"]) for row in scores] == [
        ("in.jsonl:1", 0, "one"),
        ("in.jsonl:3", 2, "two"),
        ("in.jsonl:5", 4, "\N{KEY}"),
    ]
    assert [(row["document_id"], row["index"], row["place"], row["reason"]) for row in rejects] == [
        ("in.jsonl:2", 1, "in.jsonl, line 2", "invalid_json"),
        ("in.jsonl:4", 3, "in.jsonl, line 4", "missing_text"),
    ]
    assert [(receipt.documents, receipt.tokens, receipt.reasons) for receipt in receipts] == [
        (2, 6, {"invalid_json": 1}),
        (1, 1, {"missing_text": 1}),
    ]
    assert receipts[0].nll["plain"].tokens == 4  # the first of each text has none
    assert receipts[0].nll["plain"].nats == np.nansum(nll("one")) + np.nansum(nll("two"))
    assert verify(run.job.store()) == []


def test_what_is_read_back_is_what_the_scorer_gave(file: Path) -> None:
    violating, compliant = Pass("violating", "leak!"), Pass("compliant", "do not:")
    run = Run(file, passes=(PLAIN, PROMPTED, violating, compliant))
    run.score()
    scored = read_scores(file.parent, "set")
    assert scored.texts == TEXTS
    assert scored.prompts == {"prompted": "look:", "violating": "leak!", "compliant": "do not:"}
    assert scored.reference == CharacterScorer.reference
    (notes, *_) = (record.summary.notes for record in run.job.store().manifest.records().values())
    scorer = CharacterScorer()
    assert notes["reading"] == {
        "prefix": list(scorer.prefix), "context": scorer.context, "stride": scorer.stride, "precision": "float32"
    }  # fmt: skip
    prompted = np.concatenate([nll(text, "look:") for text in TEXTS])
    np.testing.assert_array_equal(scored.batch(Prompted(prompt="look:")).scores, prompted)
    np.testing.assert_array_equal(scored.batch(Unprompted()).scores, np.concatenate([nll(text) for text in TEXTS]))
    contrast = scored.batch(Contrasted(violating="leak!", compliant="do not:")).scores
    assert set(contrast.tolist()) == {2.0}  # one prompt is two characters longer


def test_equal_texts_are_scored_once_and_stand_in_each_row(tmp_path: Path) -> None:
    run = Run(jsonl(tmp_path / "in.jsonl", [{"text": text} for text in ("same", "other", "same")]))
    (receipt,) = run.score()
    assert texts_read(run) == ["same", "other"]
    assert (receipt.documents, receipt.tokens, receipt.replayed) == (3, 13, 0)
    assert read_scores(tmp_path, "set").texts == ["same", "other", "same"]


@pytest.mark.parametrize("lives", range(len(TEXTS)))
def test_a_run_that_died_goes_on_with_the_first_batch_not_done(file: Path, tmp_path: Path, lives: int) -> None:
    dead = Run(file, scorer=MortalScorer(lives))
    with pytest.raises(Died):
        dead.score()
    again = Run(file)
    again.score()
    assert texts_read(again) == TEXTS[lives:]  # a batch here is one text
    whole = Run(jsonl(tmp_path / "whole" / "in.jsonl", [{"text": text} for text in TEXTS]))
    whole.score()
    assert repr(again.tables()) == repr(whole.tables())  # a NaN is not equal to itself
    assert verify(again.job.store()) == []


def test_a_batch_that_was_not_done_is_scored_again_as_a_whole(file: Path) -> None:
    with pytest.raises(Died):
        Run(file, batch_characters=6, scorer=MortalScorer(1)).score()
    again = Run(file)
    again.score()
    assert texts_read(again) == TEXTS


def test_a_changed_row_makes_its_shard_stale_and_no_other_and_only_its_text_is_scored(file: Path) -> None:
    Run(file).score()
    jsonl(file, [{"text": "fünf" if text == "five" else text} for text in TEXTS])
    planned, _ = Run(file).plan()
    assert [(each.shard, each.state) for each in planned.shards] == [
        (ShardRange(0, 3), "committed"),
        (ShardRange(3, 6), "stale"),
        (ShardRange(6, 8), "committed"),
    ]
    assert planned.todo == ()
    run = Run(file)
    (receipt,) = run.score("stale")
    assert texts_read(run) == ["fünf"]
    assert receipt.replayed == 2
    assert read_scores(file.parent, "set").texts == [*TEXTS[:4], "fünf", *TEXTS[5:]]


def test_rows_that_are_added_move_none_that_are_there(file: Path) -> None:
    Run(file).score()
    jsonl(file, [{"text": text} for text in [*TEXTS, "nine", "ten"]])
    run = Run(file)
    run.score()
    assert texts_read(run) == ["nine", "ten"]
    assert read_scores(file.parent, "set").texts == [*TEXTS, "nine", "ten"]


@pytest.mark.parametrize(
    "changed",
    [
        {"passes": (PLAIN, PROMPTED)},
        {"columns": Columns(strata=("kind",))},
        {"reference": Reference(model="characters", tokenizer_sha256="d" * 64)},
    ],
)
def test_other_settings_make_all_shards_stale(file: Path, changed: dict[str, Any]) -> None:
    Run(file).score()
    planned, _ = replace(Run(file), **changed).plan()
    assert {each.state for each in planned.shards} == {"stale"}


def test_a_pass_that_is_added_leaves_the_others_as_they_are(file: Path) -> None:
    Run(file).score()
    run = Run(file, passes=(PLAIN, PROMPTED))
    run.score("stale")
    assert {passes for _, passes in run.scorer.read} == {("prompted",)}
    assert read_scores(file.parent, "set").batch(Prompted(prompt="look:")).tokens.size == len("".join(TEXTS))


def test_labels_that_change_need_no_model(tmp_path: Path) -> None:
    file, columns = tmp_path / "in.jsonl", Columns(labels="spans")
    Run(jsonl(file, [{"text": "Ann", "spans": []}]), columns=columns).score()
    run = Run(jsonl(file, [{"text": "Ann", "spans": [{"start": 0, "end": 3}]}]), columns=columns)
    run.score("stale")
    assert run.scorer.read == []
    assert read_scores(tmp_path, "set").labels.pairs() == [[(0, 3)]]


def test_chats_are_rendered_and_those_the_template_refuses_are_rejects(tmp_path: Path) -> None:
    def chat(*turns: tuple[str, str]) -> dict[str, Any]:
        return {"chat": [{"role": role, "content": content} for role, content in turns]}

    rows = [chat(("user", "hi"), ("assistant", "yes")), chat(("user", "a"), ("user", "b"))]
    run = Run(jsonl(tmp_path / "in.jsonl", rows), columns=Columns(messages="chat"))
    run.score()
    _, (reject,) = run.tables()
    assert (reject["reason"], reject["place"]) == ("bad_chat", "in.jsonl, line 2")
    scored = read_scores(tmp_path, "set")
    assert scored.texts == ["hi\nyes\n"]
    assert scored.supervised.tolist() == [False, False, False, True, True, True, False]


def test_another_model_than_planned_is_refused(file: Path) -> None:
    other = Reference(model="other", tokenizer_sha256="d" * 64)
    with pytest.raises(ModelChanged, match="put the same model"):
        Run(file, reference=other).score()
