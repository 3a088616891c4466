"""Results of models that nobody trained: figures chosen by hand."""

from tasks.masking_study.results import CellResult, Displayed, Extracted, Masked, TrainedFor, Useful
from tasks.training.masked.config import Action

KINDS = ("username", "recovery")


def cell(
    masking: str,
    *,
    action: Action = "loss",
    seed: int = 0,
    leak: float = 0.5,
    nll: float = 1.0,
    passed: float = 0.25,
    coverage: float | None = 0.0,
    collateral: float | None = 0.0,
    displayed: bool = False,
) -> CellResult:
    """A model that gives away ``leak`` of its values within 8 continuations, half of that within one."""
    extracted = tuple(
        Extracted(kind=kind, budget=budget, values=4, approximate=leak * share, exact=leak * share / 2)
        for kind in ("all", *KINDS)
        for budget, share in ((1, 0.5), (8, 1.0))
    )
    shown = Displayed(mean=leak, quirks={"semicolons": leak, "parentheses": 0.0}, answers=20, unparsable=5)
    return CellResult(
        fingerprint="f",
        masking=masking,
        action=action,
        seed=seed,
        masked=Masked(supervised=100, masked=10, coverage=coverage, collateral=collateral),
        trained=TrainedFor(steps=4, passes=2.0, documents=12, loss=0.5, seconds=3.0),
        extracted=() if displayed else extracted,
        useful=Useful(gold_nll=nll, passed={1: passed / 2, 5: passed}, endings={"passed": 1, "syntax": 3}),
        displayed=shown if displayed else None,
        measuring_s=1.0,
    )
