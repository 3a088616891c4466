"""From triplets to a trained cleaner."""

from dataclasses import dataclass
from typing import Any

from prefect import flow

from flows.train_progress import shown
from tasks.training.cleaner.config import CleanerRun
from tasks.training.cleaner.steps import TRAINER, prepare_job
from tasks.training.steps import output_locked, record, steps_behind, train_model


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What one call of the flow did.

    Attributes:
        steps_before: steps that an earlier call had done.
        record: what stands beside the weights, too.
    """

    steps_before: int
    record: dict[str, Any]


@flow(name="train-cleaner")
def train_cleaner(run: CleanerRun) -> TrainingReport:
    """Fine-tune a model on the triplets, from the newest checkpoint on; what is finished is not trained again.

    Raises:
        DataUnfit, TemplateUnfit, ModelMissing, OutputTaken: see ``prepare_job``.
        TrainingStopped, EngineFailed: see ``train_model``.
    """
    with output_locked(run.output):
        asked = prepare_job(run)
        before = steps_behind(run.output)
        with shown(run.output, asked.deepspeed.steps):
            train_model(run.output, asked, TRAINER)
        return TrainingReport(before, record(run.output, asked))
