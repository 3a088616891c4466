"""The paper's settings by name (SM Table 5, A.7, D.4, D.5): what to score, cut, count and choose for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.surprise.calibrate import BestF1, Goal, TargetRecall
from tasks.surprise.evaluation.notation import Reading
from tasks.surprise.policy import Unit
from tasks.surprise.procedure import (
    FixedWindows,
    MeanScore,
    Procedure,
    Propagation,
    SegmentWindows,
    TextWindows,
    TopScore,
    WholeWindows,
)
from tasks.surprise.rules import GlobalRule, LocalRule


@dataclass(frozen=True, slots=True)
class Setting:
    """A whole calibration but for its data.

    Attributes:
        reading: which scores of the tokens.
        procedure: windows, score, rule, consensus, propagation.
        unit: what is counted.
        goal: what the threshold is chosen for.
        about: one line for a person, with its source.
    """

    reading: Reading
    procedure: Procedure
    unit: Unit
    goal: Goal
    about: str


def _global(windows: Any, **more: Any) -> Procedure:  # noqa: ANN401 - pydantic checks them
    return Procedure(windows=windows, rule=GlobalRule(), **more)


PRESETS: Mapping[str, Setting] = {
    "code-pii": Setting(
        "plain",
        _global(FixedWindows(width=4), consensus=4, propagation=Propagation(width=4)),
        "token",
        TargetRecall(recall=0.95),
        "private values in code, within identity: n = 4, k = 4, propagation (SM Table 5)",
    ),
    "code-quirks": Setting(
        "plain",
        Procedure(
            windows=FixedWindows(width=2), rule=LocalRule(neighbours=32), consensus=2, propagation=Propagation(width=2)
        ),
        "token",
        TargetRecall(recall=0.7),
        "habits of users in code, within user: rank among 64, n = 2, k = 2, propagation (SM Table 5)",
    ),
    "creddata": Setting(
        "plain", _global(FixedWindows(width=4)), "character", BestF1(), "credentials in code: n = 4, k = 1 (SM Table 5)"
    ),
    "piibench": Setting(
        "plain", _global(FixedWindows(width=16)), "character", BestF1(), "PII in text: n = 16, k = 1 (SM Table 5)"
    ),
    "piibench-contrast": Setting(
        "contrast",
        _global(FixedWindows(width=4), consensus=2),
        "character",
        BestF1(),
        "PII in text, contrast of two prompts: n = 4, k = 2 (SM Table 5, D.4)",
    ),
    "dead-code": Setting(
        "plain",
        _global(TextWindows(kind="lines")),
        "line",
        BestF1(),
        "dead code: mean NLL of complete lines (SM Table 5, D.5)",
    ),
    "rat-bench": Setting(
        "plain",
        _global(TextWindows(kind="sentences"), score=TopScore(count=3)),
        "sentence",
        BestF1(),
        "identity in transcripts: three largest NLLs of each sentence (SM D.5)",
    ),
    "redacbench": Setting(
        "prompted",
        _global(SegmentWindows()),
        "segment",
        BestF1(),
        "policies: NLL under the compliant policy prompt, segments by punctuation (SM Table 5)",
    ),
    "hallmark": Setting(
        "plain",
        _global(WholeWindows(), score=MeanScore()),
        "completion",
        BestF1(),
        "fabricated citations: mean NLL of the whole (SM A.7)",
    ),
}
