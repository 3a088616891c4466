"""Whole records: what degenerate sanitizers score, what a sanitizer that fails costs, and what is replayed."""

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pytest

from infra.llm.types import BackendUnavailable, Request
from tasks.evaluation.baselines import Baseline, baseline_text
from tasks.evaluation.case import Case
from tasks.evaluation.chain import EvaluationChain
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.figures import score
from tasks.evaluation.outcome import Evaluation, tables
from tasks.evaluation.sanitizers import Sanitizer, from_texts, zero_shot
from tasks.evaluation.verdict import full_success
from tasks.events import MemoryLog
from tasks.records import EVALUATIONS
from tasks.synthesis.chain import MixedModel
from tests.tasks.evaluation.script import TEXT, case, model, reader
from tests.tasks.synthesis.script import Answer

CONFIG = EvaluationConfig()


def chain(
    sanitizer: Sanitizer, log: MemoryLog, evaluator: MixedModel | None = None, second: MixedModel | None = None
) -> EvaluationChain:
    return EvaluationChain(7, CONFIG, "test", sanitizer, evaluator or model(), second, log)


async def evaluated(baseline: Baseline, of: Case) -> Evaluation:
    return await chain(from_texts(partial(baseline_text, baseline)), MemoryLog()).run(of)


CASE = case(("name", "medicine", "visits"), ("sister", "city"))


async def test_the_untouched_text_leaks_everything_directly_and_keeps_everything() -> None:
    found = await evaluated("untouched", CASE)
    assert {each.outcome for each in found.targets} == {"direct"}
    assert {each.outcome for each in found.retained} == {"exact"}
    assert found.spent.calls == 0
    scores = score([found.row()])
    assert scores.table4.attribute.value == 0
    assert scores.table4.kept_attribute.value == 1
    assert scores.table4.full_record.value == 0


async def test_the_empty_text_leaks_nothing_directly_and_keeps_nothing() -> None:
    found = await evaluated("empty", CASE)
    assert {each.outcome for each in found.targets} == {"safe"}
    assert {each.outcome for each in found.retained} == {"lost"}
    scores = score([found.row()])
    assert scores.table4.attribute.value == 1
    assert scores.table4.kept_attribute.value == 0
    assert scores.table4.full_record.value == 0


async def test_masking_every_value_hides_what_was_to_stay_too() -> None:
    found = await evaluated("masked", CASE)
    assert {each.outcome for each in found.targets} == {"safe"}
    assert {each.outcome for each in found.retained} == {"lost"}


async def test_the_pipelines_own_text_can_reach_a_full_success() -> None:
    found = await evaluated("triplets", case())
    assert [each.outcome for each in found.targets] == ["safe", "safe"]
    assert [each.outcome for each in found.retained] == ["exact"]
    assert full_success(found.row()) is True


async def test_a_row_holds_all_that_was_found_and_fits_its_table() -> None:
    found = await chain(from_texts(lambda of: of.by_pipeline), MemoryLog(), second=model(name="other")).run(case())
    (row,) = tables([found])["evaluations"].to_pylist()
    assert pa.Table.from_pylist([row], EVALUATIONS).to_pylist() == [row]
    first = row["targets"][0]
    assert (first["guess"], first["original_guess"]) == ("somebody or something", "Ana Lima")
    assert (first["closer"], first["second_closer"]) == ("original", "original")
    assert (row["evaluator"], row["second_evaluator"], row["sanitizer"]) == ("judge", "other", "test")
    assert row["calls"] == 2 * 4
    assert row["cost_usd"] == pytest.approx(0.001 * row["tokens"]["completion"])
    assert {each["prompt"] for each in row["prompt_shas"]} == {"guess", "closer", "present", "sanitize"}


def answering(sanitized: Answer) -> Callable[[Request], Answer]:
    return lambda request: sanitized if request.tags["step"] == "sanitize" else reader(request)


async def run_zero_shot(sanitized: Answer) -> tuple[Evaluation, MixedModel]:
    log, cleaner = MemoryLog(), model(answering(sanitized), "cleaner")
    return await chain(zero_shot(cleaner, 7, CONFIG, log), log).run(case()), cleaner


async def test_a_model_is_asked_once_with_request_and_text() -> None:
    found, cleaner = await run_zero_shot("Somebody takes something. Her sister Marta drove.")
    assert found.output.text == "Somebody takes something. Her sister Marta drove."
    assert full_success(found.row()) is True
    (request,) = cleaner.backend.requests  # type: ignore[attr-defined]
    assert TEXT in request.messages[1].content
    assert case().instruction in request.messages[1].content
    assert found.spent.steps["sanitize"].calls == 1


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ("", "empty_reply"),
        ("I'm sorry, but I can't help with that request.", "refusal"),
        ("Somebody takes something.\n\nNote: I removed the name.", "leaked_markup"),
        ("```\nSomebody takes something.\n```", "wrapped"),
        ("ĠÑĭ utfang vex pelori", "text_unrelated"),
        ("Ana sat down. " * 60, "text_grown"),
    ],
)
async def test_a_model_that_gives_nothing_is_no_success_and_no_leak(answer: str, failure: str) -> None:
    found, _ = await run_zero_shot(answer)
    assert (found.output.text, found.output.failure) == (None, failure)
    assert {each.outcome for each in (*found.targets, *found.retained)} == {"no_output"}
    assert full_success(found.row()) is False


async def test_a_missing_output_is_no_empty_text() -> None:
    found = await chain(from_texts(lambda of: None), MemoryLog()).run(case())
    assert found.row()["failure"] == "no_output"
    assert found.spent.calls == 0


async def test_what_was_answered_is_not_asked_again() -> None:
    log, broken = MemoryLog(), iter(range(3))

    def failing(request: Request) -> Answer:
        return reader(request) if next(broken, None) is not None else BackendUnavailable("gone")

    sanitizer = from_texts(lambda of: of.by_pipeline)
    with pytest.raises(BackendUnavailable):
        await chain(sanitizer, log, model(failing)).run(case())
    judge = model()
    found = await chain(sanitizer, log, judge).run(case())
    assert len(judge.backend.requests) == found.spent.calls - 3  # type: ignore[attr-defined]
    assert found == await chain(sanitizer, MemoryLog()).run(case())
