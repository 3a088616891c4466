"""``privasis evaluate cleaner`` and ``privasis split`` where neither Prefect nor Ray is needed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.config import RunConfig
from tasks.evaluation.splitting.steps import read_splits
from tests.tasks.evaluation.shards import evaluate, job_of, sanitized
from tests.tasks.sanitization.shards import FIRST, SECOND

runner = CliRunner()

RUN = """
dataset = "tiny"
root = "{root}"
seed = 7
in_flight = 2
[[models]]
engine = {{ kind = "openai", model = "judge", base_url = "http://localhost:9/v1", price = "gpt-4.1-mini" }}
"""
EVALUATE = ("evaluate", "cleaner")


@pytest.fixture
async def run(tmp_path: Path) -> RunConfig:
    (tmp_path / "run.toml").write_text(RUN.format(root=tmp_path), encoding="utf-8")
    return await sanitized(tmp_path)


def call(root: Path, *arguments: str) -> tuple[int, str, str]:
    result = runner.invoke(app, [*arguments, "-c", str(root / "run.toml")])
    return result.exit_code, result.stdout, " ".join(result.stderr.split())


async def test_what_is_judged_is_shown_without_asking_again(run: RunConfig) -> None:
    for shard in (FIRST, SECOND):
        await evaluate(run, job_of(run), shard)
    code, out, err = call(run.root, *EVALUATE)
    assert code == 0
    assert err == (
        "The data set is not split: all its triplets are judged. `privasis split` sets some aside for tests."
    )
    folder = run.root / "tiny" / "evaluations"
    assert f"The page: {folder / 'triplets-by-judge.html'}" in out
    assert "triplets-by-judge" in (folder / "triplets-by-judge.html").read_text(encoding="utf-8")
    figures = json.loads((folder / "triplets-by-judge.json").read_text(encoding="utf-8"))
    assert figures["sets"]["all"]["table4"]["full_record"]["value"] == 1.0
    assert json.loads(call(run.root, *EVALUATE, "--json")[1]) == figures


async def test_split_evaluate_and_split_again_gives_the_tests(run: RunConfig) -> None:
    for shard in (FIRST, SECOND):
        await evaluate(run, job_of(run), shard)
    code, out, _ = call(run.root, "split", "--test", "0.9", "--validation", "0")
    assert code == 0
    assert "vanilla" in out
    assert "2 shards in" in out
    assert set((read_splits(run.root, "tiny") or {}).values()) == {"vanilla"}
    assert len(read_splits(run.root, "tiny") or {}) == 4


async def test_nothing_set_aside_is_told(run: RunConfig) -> None:
    call(run.root, "split", "--test", "0.01")
    code, _, err = call(run.root, *EVALUATE)
    assert code == 2
    assert "no triplet is set aside for a test: give `privasis split --test` a larger share, or --all here" in err


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (["--sanitizer", "presto"], 2, "--sanitizer presto: give triplets, untouched, empty, masked, presidio, a file"),
        (["--sanitizer", "gone.jsonl"], 2, "--sanitizer gone.jsonl: no such file"),
        (["--evaluator", "other"], 2, "--evaluator other: no such model in the run; there are judge"),
        (["--sanitizer", "model:nope"], 2, "--sanitizer nope: no such model in the run"),
        (["--evaluator", "magic:other"], 2, "--model magic:other: give KIND:NAME"),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_starts(
    run: RunConfig, flags: list[str], code: int, said: str
) -> None:
    found, out, err = call(run.root, *EVALUATE, *flags)
    assert (found, out) == (code, "")
    assert said in err
    assert not (run.root / "tiny" / "evaluations").exists()


async def test_a_spacy_model_that_is_not_here_is_named_and_not_fetched(run: RunConfig) -> None:
    pytest.importorskip("presidio_analyzer", reason="needs the extra `presidio`")
    code, _, err = call(run.root, *EVALUATE, "--sanitizer", "presidio:nobody")
    assert (code, "spaCy model nobody is not installed" in err) == (3, True)


async def test_outputs_that_do_not_fit_are_told_with_their_ids(run: RunConfig) -> None:
    path = run.root / "mine.jsonl"
    path.write_text('{"record_id": "r-00000007-00000000", "sanitized": ""}\n', encoding="utf-8")
    code, _, err = call(run.root, *EVALUATE, "--sanitizer", str(path))
    assert code == 2
    assert "nothing for r-00000007-00000001, r-00000007-00000003, r-00000007-00000004: add a row for each" in err
    (run.root / "empty.jsonl").write_text("", encoding="utf-8")
    code, _, err = call(run.root, *EVALUATE, "--sanitizer", str(run.root / "empty.jsonl"))
    assert (code, "'empty' is the name of a baseline" in err) == (2, True)


def test_a_data_set_without_triplets_is_told(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(RUN.format(root=tmp_path), encoding="utf-8")
    code, _, err = call(tmp_path, *EVALUATE)
    assert (code, "no finished triplets to evaluate: `privasis sanitize` first" in err) == (2, True)
    code, _, err = call(tmp_path, "split")
    assert (code, "no finished triplets to split: `privasis sanitize` first" in err) == (2, True)
    code, _, err = call(tmp_path, "split", "--test", "0.7", "--validation", "0.3")
    assert (code, "leave nothing to train on" in err) == (2, True)


async def test_the_evaluation_that_decides_must_be_named_where_there_are_two(run: RunConfig) -> None:
    job = job_of(run)
    other = job.evaluator.model_copy(update={"endpoint": job.evaluator.endpoint.model_copy(update={"model": "b"})})
    for each in (job, job.model_copy(update={"evaluator": other})):
        await evaluate(run, each, FIRST)
    code, _, err = call(run.root, "split")
    assert (code, "--evaluation: triplets-by-b, triplets-by-judge" in err) == (2, True)
    assert call(run.root, "split", "--evaluation", "triplets-by-b")[0] == 0
    assert call(run.root, "split", "--evaluation", "triplets-by-c")[0] == 2
