"""A whole study of a few chats and models of a few weights, in this process, and what a second call does."""

import asyncio
import shutil
from functools import partial

import pytest

from flows.masking_study import HELD_OUT, TRAIN, StudyRun, make_corpus, masking_study
from flows.surprise_score import job_of, plan_scores
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from tasks.diversity.pool import Reservoir
from tasks.masking_study.config import Measuring, Methods, PrivateCorpus, Scale, Training
from tasks.masking_study.models.steps import FIGURES
from tasks.measuring.answers import AnswerSettings
from tasks.measuring.extraction.attack import ExtractionSettings
from tasks.surprise.reference.steps import opened
from tasks.surprise.steps import make_scores
from tasks.training.ds_config import DeepSpeedConfig
from tasks.training.masked.config import FromScratch
from tests.tasks.surprise.scoring.tiny import chat_tokenizer, qwen3

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
SETTINGS = DeepSpeedConfig.model_validate(
    {
        "train_batch_size": 2,
        "train_micro_batch_size_per_gpu": 2,
        "gradient_accumulation_steps": 1,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3}},
        "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": 2, "warmup_num_steps": 1}},
    }
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StudyRun:
    """A study whose corpus is scored already: scoring has tests of its own, on Ray."""
    folder = tmp_path_factory.mktemp("study")
    qwen3().save_pretrained(folder / "reference")
    chat_tokenizer(TEMPLATE).save_pretrained(folder / "reference")
    scale = Scale(
        corpus=PrivateCorpus(
            identities=1, bundles=1, calibration_identities=1, calibration_bundles=1, development_tasks=1
        ),
        reference=str(folder / "reference"),
        context=32,
        methods=Methods(recalls=(50,), random=(50,), goldfish=(2,), actions=("both",)),
        training=Training(
            start=FromScratch(layers=1, width=16, heads=2), vocabulary=300, settings=SETTINGS, length=1024
        ),
        measuring=Measuring(
            extraction=ExtractionSettings(samples=2, budgets=(1, 2)),
            answers=AnswerSettings(samples=1, most_tokens=4),
            prompts=1,
            run_s=20,
        ),
        seeds=(0, 1),
    )
    made = StudyRun(size="mini", scale=scale, output=folder)
    make_corpus(made)
    asyncio.run(_score(made))
    return made


async def _score(run: StudyRun) -> None:
    shared = Shared()
    context = WorkerContext(LocalKeeper(Reservoir(0)), _shared=shared)
    model = run.scoring(TRAIN).model
    await context.shared(job_of(run.scoring(TRAIN)).model.model_dump_json(), partial(opened, model))
    try:
        for split in (HELD_OUT, TRAIN):
            asked = run.scoring(split)
            job, rows = job_of(asked), asked.input.open()
            for shard in plan_scores(asked, job, rows, "stale").todo:
                await make_scores(job, shard, rows.slices(shard.start, shard.stop), context)
    finally:
        await shared.close()


@pytest.mark.usefixtures("prefect_server")
def test_a_study_ends_in_its_page_and_a_model_that_was_lost_is_made_again_alike(run: StudyRun) -> None:
    one_seed = run.model_copy(update={"scale": run.scale.model_copy(update={"seeds": (0,)})})
    part = masking_study(one_seed, ["unmasked"])
    assert [(each.masking, each.seed) for each in part.results] == [("unmasked", 0)]
    untouched = (next((run.home / "models").glob("unmasked-*")) / FIGURES).stat()

    study = masking_study(run)
    names = [each.method.name for each in study.results if each.seed == 0]
    assert names[:2] == ["unmasked", "oracle"]
    assert {"goldfish:2", "goldfish-reference:2"} <= set(names)
    assert ("SM50, both" in names) is ("SM50" not in study.setup.missing)
    assert len(study.results) == study.planned == 2 * len(names)
    oracle = next(each for each in study.results if each.masking == "oracle")
    assert (oracle.masked.coverage, oracle.masked.collateral) == (1.0, 0.0)
    assert {each.kind for each in oracle.extracted} == {"all", "username", "workspace", "account_id", "recovery"}
    assert study.results[0].useful.gold_nll > 0
    again = next((run.home / "models").glob("unmasked-loss-seed0-*")) / FIGURES
    assert again.stat() == untouched  # neither trained nor written again

    page = (run.home / "study.md").read_text(encoding="utf-8")
    assert "| oracle | 2 | 100.0 ± 0.0 | 0.0 ± 0.0 |" in page
    assert (run.home / "tradeoff.png").stat().st_size > 1000

    lost = next((run.home / "models").glob("oracle-loss-seed1-*"))
    shutil.rmtree(lost)
    repeated = masking_study(run)
    timed = {"trained", "measuring_s"}
    assert [each.model_dump(exclude=timed) for each in repeated.results] == [
        each.model_dump(exclude=timed) for each in study.results
    ]
