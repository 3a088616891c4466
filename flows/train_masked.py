"""From scored texts and their masks to a model that has not learnt what is masked."""

from dataclasses import dataclass

from prefect import flow

from flows.train_progress import shown
from tasks.training.job import MODEL
from tasks.training.masked.config import MaskedRun
from tasks.training.masked.steps import TRAINER, Trained, prepare_job
from tasks.training.steps import output_locked, record, steps_behind, train_model


@dataclass(frozen=True, slots=True)
class MaskedReport:
    """What one call of the flow did.

    Attributes:
        steps_before: steps that an earlier call had done.
        trained: the model, and how it was made.
    """

    steps_before: int
    trained: Trained


@flow(name="train-masked")
def train_masked(run: MaskedRun) -> MaskedReport:
    """Train a model on masked texts, from the newest checkpoint on; what is finished is not trained again.

    Raises:
        MaskingUnfit, ModelMissing, OutputTaken: see ``prepare_job``.
        TrainingStopped, EngineFailed: see ``train_model``.
    """
    with output_locked(run.output):
        asked = prepare_job(run)
        before = steps_behind(run.output)
        with shown(run.output, asked.deepspeed.steps):
            train_model(run.output, asked, TRAINER)
        return MaskedReport(before, Trained(run.output / MODEL, record(run.output, asked)))
