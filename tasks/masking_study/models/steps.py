"""One model of the study at its edge: trained, attacked and measured, from where an earlier call was stopped."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from prefect import task
from prefect.cache_policies import NO_CACHE

from infra.engines.causal_lm import CausalLm, CausalLmConfig, load
from infra.engines.cores import usable_cores
from infra.llm.transformers_local import context_tokens
from infra.sandbox.run import Limits
from infra.shards import files
from infra.shards.spec import spec_hash
from tasks.masking_study.config import Scale, Training
from tasks.masking_study.grid import Cell
from tasks.masking_study.results import (
    CellResult,
    Displayed,
    Extracted,
    Masked,
    TrainedFor,
    Useful,
    displayed_of,
    extracted_of,
    useful_of,
)
from tasks.measuring.answers import Question, SampledAnswers
from tasks.measuring.corpus.steps import has_quirks, read_applies, read_gold_chats, read_questions, read_targets
from tasks.measuring.extraction.attack import ExtractionSettings
from tasks.measuring.extraction.targets import split_all
from tasks.measuring.gold_examples import chat_example
from tasks.measuring.quirks.display import display, look
from tasks.measuring.sampling import LocalSampler
from tasks.measuring.special import end_tokens, start_token
from tasks.measuring.steps import attack_model, judge_answers, measure_gold, write_answers
from tasks.measuring.utility.gold import gold_result
from tasks.measuring.utility.passing import passing
from tasks.training.answers import Answers
from tasks.training.job import MODEL
from tasks.training.masked.config import MaskedRun
from tasks.training.masked.steps import TRAINER, Trained, prepare_job, read_coverage, train_here
from tasks.training.steps import output_locked, record, to_json, train_model

FIGURES, TRAINING, MEASURED = "cell.json", "training", "measured"
VERSION = 1  # of what a model's figures mean: raise it when the code trains or measures otherwise


@dataclass(frozen=True)
class CellJob:
    """One model of a study, and where it goes.

    Attributes:
        cell: method and seed.
        corpus: folder of the corpus.
        corpus_sha256: of all that is in it.
        masks: folder of the masks.
        root: folder of all models.
        scale: of the study.
    """

    cell: Cell
    corpus: Path
    corpus_sha256: str
    masks: Path
    root: Path
    scale: Scale

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides what comes out."""
        return spec_hash(
            self.scale.training,
            self.scale.measuring,
            {
                "masks": read_coverage(self.masks)["masks_sha256"],
                "corpus": self.corpus_sha256,
                "cell": [self.cell.method.masking, self.cell.method.action, self.cell.seed],
                "version": VERSION,
            },
        )

    @property
    def folder(self) -> Path:
        """Folder of the model; its name tells method, seed and fingerprint."""
        return self.root / f"{self.cell.folder}-{self.fingerprint[:8]}"

    def found(self) -> CellResult | None:
        """Return the figures that are there; None where it is not done yet."""
        held = files.read(self.folder / FIGURES)
        return None if held is None else CellResult.model_validate_json(held)


@task(task_run_name="{job.cell.folder}", cache_policy=NO_CACHE)  # a finished model is its own cache
def run_cell(job: CellJob) -> CellResult:
    """Train one model and measure it; a finished one is read.

    Raises:
        TrainingStopped: a loss or a gradient was no number.
        OutputTaken: another process is at it.
        SandboxUnavailable: this system cannot confine programs.
        ValueError: no gold answer fits into the model's window.
    """
    if (held := job.found()) is not None:
        return held
    torch.set_num_threads(job.scale.threads or usable_cores())
    trained = _train(job)
    began = time.monotonic()
    model = _Model.opened(job, trained.model)
    data, metrics = trained.record["data"], trained.record["metrics"]
    extraction = job.scale.measuring.extraction
    questions = read_questions(job.corpus, "chats")[: job.scale.measuring.prompts]
    answers = model.answers(questions)
    result = CellResult(
        fingerprint=job.fingerprint,
        masking=job.cell.method.masking,
        action=job.cell.method.action,
        seed=job.cell.seed,
        masked=Masked(**{name: data["coverage"][name] for name in Masked.model_fields}),
        trained=TrainedFor(
            steps=metrics["steps"],
            passes=data["train"]["passes"],
            documents=data["train"]["documents"],
            loss=metrics["loss"],
            seconds=metrics["seconds"],
        ),
        extracted=() if extraction is None else model.extracted(extraction),
        useful=model.useful(questions, answers),
        displayed=model.displayed(questions, answers) if has_quirks(job.corpus) else None,
        measuring_s=round(time.monotonic() - began, 1),
    )
    files.put(job.folder / FIGURES, to_json(result.model_dump(mode="json")))
    return result


def _train(job: CellJob) -> Trained:
    training = job.scale.training
    run = MaskedRun(
        masks=job.masks,
        masking=job.cell.method.masking,
        action=job.cell.method.action,
        seed=job.cell.seed,
        output=job.folder / TRAINING,
        **{name: getattr(training, name) for name in Training.model_fields if name != "vocabulary"},
    )
    if training.engine == "torch":
        return train_here(run)
    with output_locked(run.output):
        asked = prepare_job(run)
        train_model(run.output, asked, TRAINER)
        return Trained(run.output / MODEL, record(run.output, asked))


Drawn = dict[str, list[str]]  # answers by the prompt's id


@dataclass(frozen=True, eq=False)
class _Model:
    """A trained model, measured."""

    job: CellJob
    lm: CausalLm
    sampler: LocalSampler

    @classmethod
    def opened(cls, job: CellJob, folder: Path) -> "_Model":
        lm = load(CausalLmConfig(model=str(folder), threads=job.scale.threads))
        return cls(job, lm, LocalSampler(lm.model, lm.name, end_tokens(lm.model, lm.tokenizer)))

    @property
    def output(self) -> Path:
        return self.job.folder / MEASURED

    def extracted(self, settings: ExtractionSettings) -> tuple[Extracted, ...]:
        targets, tokenizer = read_targets(self.job.corpus, "chats"), self.lm.tokenizer
        splits = split_all(targets, tokenizer, settings.regime, settings.tokenization)
        return extracted_of(attack_model(self.output, self.sampler, targets, splits, settings, start_token(tokenizer)))

    def answers(self, questions: Sequence[Question]) -> Drawn:
        answerer = SampledAnswers(self.sampler, self.lm.tokenizer, context_tokens(self.lm))
        return write_answers(self.output, answerer, questions, self.job.scale.measuring.answers)

    def useful(self, questions: Sequence[Question], answers: Drawn) -> Useful:
        asked = self.job.scale.measuring
        limits = Limits(wall_s=asked.run_s, cpu_s=asked.run_s)
        judged = judge_answers(self.output, answers, questions, limits, usable_cores())
        chats, window = Answers(self.lm.tokenizer, sys.maxsize), context_tokens(self.lm)
        examples = [chat_example(chats, *row) for row in read_gold_chats(self.job.corpus)]
        fitting = [each for each in examples if each.ids.size <= window]  # the others are counted
        if not fitting:
            raise ValueError(f"{self.lm.name}: its window of {window} tokens holds none of the gold answers")
        gold = gold_result(measure_gold(self.output, self.lm.model, self.lm.name, fitting))
        return useful_of(gold, passing(judged, asked.answers.samples), left_out=len(examples) - len(fitting))

    def displayed(self, questions: Sequence[Question], answers: Drawn) -> Displayed:
        asked = {question.id for question in questions}
        applies = {quirk: [id_ for id_ in ids if id_ in asked] for quirk, ids in read_applies(self.job.corpus).items()}
        return displayed_of(display([look(question.id, answers[question.id]) for question in questions], applies))
