"""Shards of evaluations: committed once, resumed from their journal, stale exactly when what they read changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.config import RunConfig
from flows.evaluate import Asked, plan_evaluation
from flows.split import split, split_job
from infra.llm.fake import FakeBackend
from infra.llm.types import BackendUnavailable, Request
from infra.shards.checks import SchemaMismatch
from infra.shards.ranges import ShardRange
from infra.shards.verify import verify
from tasks.evaluation.baselines import MASK
from tasks.evaluation.choice import OutputsSanitizer, PresidioSanitizer
from tasks.evaluation.opening.steps import _outputs
from tasks.evaluation.splitting.assign import SplitConfig
from tasks.evaluation.splitting.steps import read_splits
from tasks.evaluation.steps import EvaluationJob, ids_to_judge
from tasks.evaluation.store.steps import evaluation_name, evaluations_of
from tests.tasks.evaluation.shards import JUDGE, asked, evaluate, job_of, judge, sanitized
from tests.tasks.sanitization.records import LETTER
from tests.tasks.sanitization.shards import FIRST, SECOND, commit_records, made
from tests.tasks.synthesis.script import Answer


@pytest.fixture
async def run(tmp_path: Path) -> RunConfig:
    return await sanitized(tmp_path)


def states(job: EvaluationJob) -> dict[ShardRange, str]:
    return {planned.shard: planned.state for planned in plan_evaluation(job, "stale").shards}


def rows(job: EvaluationJob, shard: ShardRange) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = job.store().read_shard("evaluations", shard).to_pylist()
    return found


async def test_a_shard_has_a_row_for_every_triplet_of_its_shard(run: RunConfig) -> None:
    job = job_of(run)
    assert states(job) == {FIRST: "missing", SECOND: "missing"}
    receipt, backend = await evaluate(run, job, FIRST)
    assert (receipt.records, receipt.calls) == (2, len(backend.requests))
    assert [row["index"] for row in rows(job, FIRST)] == [0, 1]
    assert all(row["sanitizer"] == "triplets" and row["evaluator"] == "judge" for row in rows(job, FIRST))
    assert all(each["outcome"] == "safe" for row in rows(job, FIRST) for each in row["targets"])
    assert states(job) == {FIRST: "committed", SECOND: "missing"}
    assert verify(job.store()) == []
    assert verify(job.triplets()) == []


async def test_each_sanitizer_and_evaluator_has_a_folder_of_its_own(run: RunConfig) -> None:
    for baseline in ("triplets", "untouched"):
        await evaluate(run, job_of(run, asked(baseline)), FIRST)
    assert list(evaluations_of(run.root, "tiny")) == ["triplets-by-judge", "untouched-by-judge"]
    assert list(evaluations_of(run.root, "tiny", "triplets")) == ["triplets-by-judge"]
    assert evaluations_of(run.root, "nowhere") == {}
    assert evaluation_name("org/model:7b", "..") == "org-model-7b-by-unnamed"


async def test_a_shard_cut_off_goes_on_from_its_journal_and_pays_nothing_twice(run: RunConfig) -> None:
    job, paid = job_of(run), iter(range(4))

    def failing(request: Request) -> Answer:
        return judge(request) if next(paid, None) is not None else BackendUnavailable("gone")

    with pytest.raises(BackendUnavailable):
        await evaluate(run, job, FIRST, failing)
    assert states(job)[FIRST] == "open"
    receipt, rest = await evaluate(run, job, FIRST)
    assert receipt.replayed == 4
    assert receipt.calls == len(rest.requests) + 4
    ids = [row["record_id"] for row in rows(job, FIRST)]
    assert len(ids) == len(set(ids)) == 2
    receipt, rest = await evaluate(run, job, FIRST)
    assert (rest.requests, receipt.replayed) == ([], receipt.calls)


def steps_of(backend: FakeBackend) -> set[str]:
    return {request.tags["step"].partition("-")[0] for request in backend.requests}


async def test_what_was_guessed_from_an_original_is_not_asked_again_for_another_sanitizer(
    run: RunConfig, tmp_path: Path
) -> None:
    _, first = await evaluate(run, job_of(run), FIRST)
    assert steps_of(first) == {"guess", "original", "closer"}
    before = rows(job_of(run), FIRST)
    texts = {row["record_id"]: f"{row['sanitized']} P.S." for row in before}
    other = job_of(run, outputs(tmp_path, **texts))
    _, second = await evaluate(run, other, FIRST)
    assert steps_of(second) == {"guess", "closer"}
    for mine, theirs in zip(rows(other, FIRST), before, strict=True):
        assert mine["targets"] == theirs["targets"]


async def test_guesses_of_another_evaluator_or_of_other_triplets_are_none(run: RunConfig, tmp_path: Path) -> None:
    await evaluate(run, job_of(run), FIRST)
    texts = {row["record_id"]: f"{row['sanitized']} P.S." for row in rows(job_of(run), FIRST)}
    other = job_of(run, outputs(tmp_path, **texts))
    stranger = other.model_copy(update={"seed": 8})
    _, backend = await evaluate(run, stranger, FIRST)
    assert "original" in steps_of(backend)
    commit_records(run.root, FIRST, LETTER.replace("swollen", "sore"))
    await made(run, FIRST)
    _, backend = await evaluate(run, other, FIRST)
    assert "original" in steps_of(backend)


async def test_changed_triplets_make_exactly_their_evaluation_stale(run: RunConfig) -> None:
    job = job_of(run)
    for shard in (FIRST, SECOND):
        await evaluate(run, job, shard)
    commit_records(run.root, SECOND, LETTER.replace("swollen", "sore"))
    await made(run, SECOND)
    assert states(job) == {FIRST: "committed", SECOND: "stale"}
    await evaluate(run, job, SECOND)
    assert states(job) == {FIRST: "committed", SECOND: "committed"}


async def test_another_setting_or_prompt_makes_every_shard_stale(
    run: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(run)
    await evaluate(run, job, FIRST)
    assert states(job_of(run.model_copy(update={"in_flight": 9})))[FIRST] == "committed"
    assert states(job_of(run.model_copy(update={"seed": 8})))[FIRST] == "stale"
    assert states(job.model_copy(update={"second": job.evaluator}))[FIRST] == "stale"
    monkeypatch.setattr("tasks.evaluation.steps.PROMPT_SHAS", {"guess": "0"})
    assert states(job)[FIRST] == "stale"


def outputs(folder: Path, **texts: str | None) -> Asked:
    path = folder / "mine.jsonl"
    lines = (json.dumps({"record_id": record, "sanitized": text}) for record, text in texts.items())
    path.write_text("\n".join(lines), encoding="utf-8")
    return Asked(sanitizer=OutputsSanitizer.of(path), evaluator=JUDGE, only_tests=False)


async def test_outputs_made_elsewhere_are_joined_by_id_whatever_their_order(run: RunConfig, tmp_path: Path) -> None:
    texts = {"r-00000007-00000001": "second", "r-00000007-00000000": "first"}
    job = job_of(run, outputs(tmp_path, **texts))
    await evaluate(run, job, FIRST)
    assert job.name == "mine-by-judge"
    assert {row["record_id"]: row["sanitized"] for row in rows(job, FIRST)} == texts


async def test_presidio_masks_what_it_finds_and_nothing_else(run: RunConfig, tmp_path: Path) -> None:
    pytest.importorskip("presidio_analyzer", reason="needs the extra `presidio`")
    spacy = pytest.importorskip("spacy")
    english = spacy.blank("en")
    english.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ana Lima"}])
    english.to_disk(tmp_path / "tiny-en")
    sanitizer = PresidioSanitizer(spacy_model=str(tmp_path / "tiny-en"))
    job = job_of(run, Asked(sanitizer=sanitizer, evaluator=JUDGE, only_tests=False))
    await evaluate(run, job, FIRST)
    assert job.name == "presidio-tiny-en-by-judge"
    expected = LETTER.replace("Ana Lima", MASK)
    assert MASK in expected
    assert [(row["failure"], row["sanitized"]) for row in rows(job, FIRST)] == [(None, expected)] * 2


async def test_a_changed_file_makes_the_evaluation_stale_and_is_not_read_by_a_run_that_began_before(
    run: RunConfig, tmp_path: Path
) -> None:
    texts: dict[str, str | None] = {"r-00000007-00000001": "second", "r-00000007-00000000": "first"}
    before = job_of(run, outputs(tmp_path, **texts))
    await evaluate(run, before, FIRST)
    after = job_of(run, outputs(tmp_path, **texts | {"r-00000007-00000000": None}))
    assert states(after)[FIRST] == "stale"
    await evaluate(run, after, FIRST)
    assert [row["failure"] for row in rows(after, FIRST)] == ["no_output", None]
    outputs(tmp_path, **texts)
    _outputs.cache_clear()  # as in another process
    with pytest.raises(SchemaMismatch, match="has changed since the run began"):
        await evaluate(run, after, SECOND)


async def test_only_what_is_set_aside_for_a_test_is_judged_and_the_judgement_names_the_test(run: RunConfig) -> None:
    """All records of the fixture are about one person, and so in one split."""
    config = next(
        config
        for config in (SplitConfig(test=0.5, validation=0.1, seed=seed) for seed in range(99))
        if split(split_job(run, config), None).splits[0].split == "test"
    )
    job = job_of(run, asked(only_tests=True))
    assert len(ids_to_judge(job, FIRST)) == 2
    for shard in (FIRST, SECOND):
        await evaluate(run, job, shard)
    store = evaluations_of(run.root, "tiny")["triplets-by-judge"]
    report = split(split_job(run, config), store)
    assert (report.shards, report.made) == (2, 2)
    assert set((read_splits(run.root, "tiny") or {}).values()) == {"vanilla"}
    assert states(job) == {FIRST: "committed", SECOND: "committed"}  # who is tested has not changed
    assert split(split_job(run, config), store).made == 0


async def test_what_trains_is_not_judged(run: RunConfig) -> None:
    next(
        seed
        for seed in range(99)
        if split(split_job(run, SplitConfig(test=0.1, validation=0.1, seed=seed)), None).splits[0].split == "train"
    )
    job = job_of(run, asked(only_tests=True))
    assert ids_to_judge(job, FIRST) == set()
    receipt, backend = await evaluate(run, job, FIRST)
    assert (receipt.records, backend.requests, rows(job, FIRST)) == (0, [], [])
