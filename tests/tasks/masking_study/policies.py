"""A policy that selects tokens of at least so much surprise."""

from tasks.surprise.calibrate import TargetRecall
from tasks.surprise.metrics import Counts
from tasks.surprise.policy import Achieved, Policy, Reference
from tasks.surprise.procedure import FixedWindows, Procedure
from tasks.surprise.rules import GlobalRule


def policy(threshold: float) -> Policy:
    """Windows of one token."""
    achieved = Achieved(
        unit="token",
        counts=Counts(true_positives=1, false_positives=0, false_negatives=0, true_negatives=1),
        recall=1.0,
        collateral=0.0,
        f1=1.0,
        mask_everything_f1=2 / 3,
        auroc=1.0,
    )
    return Policy(
        reference=Reference(model="m", tokenizer_sha256="0" * 64),
        procedure=Procedure(windows=FixedWindows(width=1), rule=GlobalRule()),
        threshold=threshold,
        goal=TargetRecall(recall=0.5),
        validation_sha256="0" * 64,
        achieved=achieved,
    )
