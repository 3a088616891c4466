"""What calibration means for a person, in plain words (SM sections 5 and 7)."""

from tasks.surprise.bound import NoBound, generation_bound
from tasks.surprise.calibrate import NoPoint, Point
from tasks.surprise.curve import Curve
from tasks.surprise.metrics import Counts
from tasks.surprise.policy import Unit
from tasks.surprise.procedure import FixedWindows, Procedure
from tasks.surprise.rules import GlobalRule

NEAR_CHANCE = 0.6  # AUROC; the paper's weakest settings, .53 and .57, led to no useful masking
FEW_SPANS = 50
HIGH_COLLATERAL = 0.2
BOUND_TOKENS = 16  # of the span that the bound is stated for


def advice(
    curve: Curve, chosen: Point | NoPoint, procedure: Procedure, unit: Unit, *, labelled_spans: int, unprompted: bool
) -> list[str]:
    """Say whether the threshold is acceptable, why not, and what to do next; the most important first."""
    said = [*_verdict(curve, chosen, unit)]
    if 0 < labelled_spans < FEW_SPANS:
        said.append(
            f"Only {labelled_spans} labelled spans stand behind these figures: label more before relying on them."
        )
    if isinstance(chosen, NoPoint):
        said.append(_other_settings(procedure))
    else:
        said.append(
            "Check the policy on a second labelled set that resembles the data it will mask:"
            " `privasis surprise evaluate`. Validation alone can overstate separation (RedacBench: .74, then .53)."
        )
        said += _bound(procedure, chosen.threshold, unprompted=unprompted)
    said.append("Surprise Masking gives no formal guarantee: content can be learned from context and from repetition.")
    return said


def _verdict(curve: Curve, chosen: Point | NoPoint, unit: Unit) -> list[str]:
    if isinstance(chosen, NoPoint):
        reason = chosen.reason[:1].lower() + chosen.reason[1:]
        return [f"No acceptable point, because {reason}", *_separation(curve)]
    counts = chosen.counts
    said = [f"{_of(counts.tpr)} of the private {unit}s are masked, at the price of {_of(counts.fpr)} of all others."]
    if (counts.fpr or 0) > HIGH_COLLATERAL:
        said.append(
            "That is much collateral. Training may bear it, a data set for release will not: there each other"
            f" {unit} that is removed is an error. Consider a lower recall, another score or another means."
        )
    said += _trivial(counts)
    return [*said, *_separation(curve)]


def _trivial(counts: Counts) -> list[str]:
    everything = counts.mask_everything_f1
    if counts.f1 is None or everything is None or counts.f1 > everything:
        return []
    return [f"Its F1 of {counts.f1:.3f} does not beat masking everything, {everything:.3f}."]


def _separation(curve: Curve) -> list[str]:
    if not (curve.targets and curve.others) or curve.auroc >= NEAR_CHANCE:
        return []
    what = (
        "close to chance: surprise hardly tells private from other content here."
        if curve.auroc > 1 - NEAR_CHANCE
        else "below chance: private content is less surprising than the rest here."
    )
    return [
        f"AUROC {curve.auroc:.2f} is {what} Use another means (a detector, a rewriter) rather than forcing this one."
    ]


def _other_settings(procedure: Procedure) -> str:
    tried = "one threshold" if isinstance(procedure.rule, GlobalRule) else "local ranks"
    return (
        f"Tried: {tried}. For code, one threshold with consensus and propagation works best (--windows fixed:4"
        " --consensus 4 --propagate 4); for broad text, start with local ranks (--rule local:64). If neither"
        " separates at an acceptable point, use another means."
    )


def _bound(procedure: Procedure, tau: float, *, unprompted: bool) -> list[str]:
    if not isinstance(procedure.windows, FixedWindows) or tau <= 0:
        return []
    tokens = max(BOUND_TOKENS, procedure.windows.width)
    try:
        bound = generation_bound(procedure, tau, tokens, unprompted=unprompted)
    except NoBound:
        return []
    return [
        f"A run of {tokens} tokens that stays wholly unmasked has a probability of at least {bound.probability:.1e}"
        f" under the reference model, {bound.expected_samples:.1e} samples at most until it is generated (SM App. G)."
    ]


def _of(share: float | None) -> str:
    return "none" if share is None else f"{share:.1%}"
