import math

import numpy as np
import pytest
from pydantic import ValidationError

from tasks.surprise.bound import NoBound
from tasks.surprise.calibrate import Point, TargetRecall, calibrate
from tasks.surprise.combine import Combination
from tasks.surprise.curve import trade_off
from tasks.surprise.policy import Achieved, Contrasted, Policy, PolicyMismatch, Prompted, Reference
from tasks.surprise.procedure import CombinedScore, FixedWindows, Procedure, Propagation, TextWindows
from tasks.surprise.rules import GlobalRule, LocalRule
from tasks.surprise.spans import Spans
from tasks.surprise.units import token_units
from tests.tasks.surprise.batches import batch_of

REFERENCE = Reference(model="Qwen2.5-Coder-0.5B-Instruct@ebb2015", tokenizer_sha256="0a" * 32)
BATCH = batch_of([[0.1, 0.7, 3.1, 2.2, 0.3, 0.1]])
GOAL = TargetRecall(recall=0.9)
PROCEDURE = Procedure(
    windows=FixedWindows(width=2), rule=GlobalRule(), consensus=2, propagation=Propagation(width=2, straddling="strict")
)


def policy() -> Policy:
    curve = trade_off(token_units(BATCH.tokens, PROCEDURE.levels(BATCH), Spans.of([[(2, 4)]])).piles())
    point = calibrate(curve, PROCEDURE.rule, GOAL)
    assert isinstance(point, Point)
    return Policy(
        reference=REFERENCE,
        procedure=PROCEDURE,
        threshold=point.threshold,
        goal=GOAL,
        validation_sha256="b1" * 32,
        achieved=Achieved.at(point, curve, "token"),
    )


def test_a_policy_comes_back_from_json_as_it_was_and_masks_the_same() -> None:
    frozen = policy()
    back = Policy.from_json(frozen.to_json())
    assert back == frozen
    assert back.threshold == frozen.threshold == (0.3 + 2.2) / 2
    assert back.mask(BATCH).tolist() == [False, False, True, True, False, False]


def test_a_policy_says_what_it_achieved() -> None:
    achieved = policy().achieved
    assert (achieved.recall, achieved.collateral, achieved.f1, achieved.auroc) == (1.0, 0.0, 1.0, 1.0)
    assert achieved.mask_everything_f1 == pytest.approx(0.5)  # 2p / (1 + p) at p = 1/3
    assert '"recall": 1.0' in policy().to_json()


def test_every_kind_of_procedure_comes_back_from_json() -> None:
    combination = Combination.fit([{"lines": np.array([0.1, 0.7]), "change": np.array([-3.0, 1e-9])}])
    for changes in (
        {"procedure": Procedure(windows=TextWindows(kind="lines"), rule=LocalRule(neighbours=5)), "threshold": 1.5625},
        {
            "procedure": Procedure(
                windows=TextWindows(kind="lines"), score=CombinedScore(combination=combination), rule=GlobalRule()
            )
        },
        {"conditioning": Prompted(prompt="Leave nothing private in.\n")},
        {"conditioning": Contrasted(violating="Keep names: ü", compliant="Remove names.")},
    ):
        changed = policy().model_copy(update=changes)
        assert Policy.from_json(changed.to_json()) == changed


def test_a_policy_of_another_version_is_refused_with_what_to_do() -> None:
    later = policy().to_json().replace('"version": 1', '"version": 2')
    with pytest.raises(PolicyMismatch, match="policy of version 2, this release reads version 1: calibrate again"):
        Policy.from_json(later)


def test_a_file_with_a_missing_or_an_unknown_entry_is_no_policy() -> None:
    with pytest.raises(ValidationError, match="tau"):
        Policy.from_json(policy().to_json().replace('"threshold"', '"tau"'))
    with pytest.raises(ValidationError, match="version"):
        Policy.from_json("{}")


def test_scores_of_another_model_or_tokenizer_are_refused() -> None:
    policy().check(REFERENCE)
    for other in (
        REFERENCE.model_copy(update={"model": "other"}),
        REFERENCE.model_copy(update={"tokenizer_sha256": "00" * 32}),
    ):
        with pytest.raises(PolicyMismatch, match="score with the policy's model"):
            policy().check(other)


def test_thresholds_that_no_rule_can_have_are_refused() -> None:
    whole = policy().model_dump()
    for threshold in (math.nan, math.inf):
        with pytest.raises(ValidationError, match="finite"):
            Policy.model_validate(whole | {"threshold": threshold})
    local = whole | {"procedure": Procedure(windows=FixedWindows(width=2), rule=LocalRule()), "threshold": 101.0}
    with pytest.raises(ValidationError, match=r"r_max 101\.0 is a percentage of at most 100"):
        Policy.model_validate(local)


def test_a_policy_states_a_bound_only_where_it_holds() -> None:
    frozen = policy()
    with pytest.raises(NoBound, match="a consensus of 2 windows"):
        frozen.bound(4)
    plain = frozen.model_copy(update={"procedure": Procedure(windows=FixedWindows(width=2), rule=GlobalRule())})
    assert plain.bound(4).log_probability == -2 * 1.25 * 2
    prompted = plain.model_copy(update={"conditioning": Prompted(prompt="p")})
    with pytest.raises(NoBound, match="prompted or a contrast"):
        prompted.bound(4)
