"""The whole chain of a record: what it ends in, what it shares, and that its past is replayed and not repeated."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import BackendUnavailable, Request, RequestRejected, Usage
from tasks.concurrency import map_bounded
from tasks.events import MemoryLog
from tasks.prompts import Prompt
from tasks.records import RECORDS
from tasks.synthesis import attributes, refine
from tasks.synthesis.chain import Chain, MixedModel
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tasks.synthesis.draws import DrawConfig
from tasks.synthesis.outcome import Record, Reject, tables
from tasks.synthesis.prompts import GROUPS
from tests.tasks.synthesis.chance import fit
from tests.tasks.synthesis.script import (
    LETTER,
    PLAIN,
    HashEmbedder,
    PatientBackend,
    asked,
    chain_of,
    cut_off,
    pool_of,
    scripted,
    unit_vector,
)

STEPS = ["profile", "details", "record_types", "contexts", "formats", "draft"]
REFINEMENT = ["revise-1", "judge-1", "revise-2", "judge-2"]
ANNOTATION = ["attributes", "groups", "label"]
NO_POOL = PLAIN.model_copy(update={"refinement": RefinementConfig(steps=2, diversity=False)})
CHILDREN = SynthesisConfig(draws=DrawConfig(min_age=10, max_age=17))


def writer() -> FakeBackend:
    return FakeBackend(scripted({}))


def rows(*outcomes: Record | Reject) -> dict[str, list[dict[str, Any]]]:
    return {name: table.to_pylist() for name, table in tables(outcomes).items()}


async def record_of(chain: Chain, index: int = 0) -> Record:
    outcome = await chain.run(index)
    assert isinstance(outcome, Record)
    return outcome


async def reject_of(chain: Chain, index: int = 0) -> Reject:
    outcome = await chain.run(index)
    assert isinstance(outcome, Reject)
    return outcome


# --- what a chain ends in ---


async def test_a_record_takes_one_call_a_step_and_joins_the_pool() -> None:
    backend, pool = writer(), pool_of([])
    record = await record_of(chain_of(backend, pool=pool))
    assert asked(backend) == [*STEPS, *REFINEMENT, *ANNOTATION]
    assert record.text.strip()
    np.testing.assert_array_equal(record.embedding, unit_vector(record.text))
    held = await pool.prepared(8, 0)
    assert held.size == 1
    assert record.spent.calls == len(backend.requests)
    assert record.spent.cost_usd == record.spent.tokens.prompt / 1000


async def test_the_prompt_hashes_in_a_row_are_those_of_the_prompts_asked() -> None:
    record = await record_of(chain_of(writer()))
    assert record.prompt_shas["groups"] == GROUPS.sha
    assert {step.partition("-")[0] for step in [*STEPS, *REFINEMENT, *ANNOTATION]} == set(record.prompt_shas)


async def test_a_step_that_never_works_quarantines_its_record_with_step_reason_and_last_reply() -> None:
    backend = FakeBackend(scripted({"formats": ["{}", "{}", '{"items": []}']}))
    reject = await reject_of(chain_of(backend))
    assert (reject.outcome, reject.step, reject.reason) == ("quarantined", "formats", "invalid_reply")
    assert reject.last_reply == '{"items": []}'
    assert asked(backend) == [*STEPS[:4], "formats", "formats 1", "formats 2"]
    assert reject.spent.calls == 7
    (row,) = rows(reject)["rejects"]
    assert (row["record_id"], row["index"], row["calls"]) == (reject.identity.record_id, 0, 7)


async def test_empty_drafts_quarantine_the_record_and_are_never_a_row() -> None:
    reject = await reject_of(chain_of(FakeBackend(scripted({"draft": ["", " ", "\n"]}))))
    assert (reject.outcome, reject.step, reject.reason) == ("quarantined", "draft", "empty_reply")


async def test_a_draft_cut_off_three_times_is_not_a_record() -> None:
    backend = FakeBackend(scripted({"draft": [cut_off(LETTER)] * 3}))
    reject = await reject_of(chain_of(backend))
    assert (reject.outcome, reject.step, reject.reason) == ("filtered", "draft", "cut_off")
    limits = [request.sampling.max_tokens for request in backend.requests if request.tags["step"] == "draft"]
    assert limits == [limits[0], 2 * limits[0], 4 * limits[0]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Too short.", "too_short"),
        (LETTER.replace("Ana", "[Your Name]"), "placeholder"),
        ("The same line is here again.\n" * 30, "repetition"),
        (LETTER + "\n\nLet me know if you would like me to adjust the letter.", "commentary"),
    ],
)
async def test_a_degenerate_draft_ends_as_filtered_under_the_name_of_the_filter(text: str, reason: str) -> None:
    reject = await reject_of(chain_of(FakeBackend(scripted({"draft": [text] * 3}))))
    assert (reject.outcome, reject.step, reject.reason) == ("filtered", "draft", reason)
    assert reject.last_reply == text


@pytest.mark.parametrize("answer", [cut_off('{"sex": '), "I'm sorry, but I can't help with that request."])
async def test_json_that_is_cut_off_or_refused_is_no_filtered_text(answer: Any) -> None:
    reject = await reject_of(chain_of(FakeBackend(scripted({"profile": [answer] * 3}))))
    assert (reject.outcome, reject.step) == ("quarantined", "profile")
    assert reject.reason in ("cut_off", "refusal")


async def test_a_degenerate_draft_may_be_followed_by_a_good_one() -> None:
    backend = FakeBackend(scripted({"draft": ["Too short.", LETTER]}))
    record = await record_of(
        chain_of(backend, config=PLAIN.model_copy(update={"refinement": RefinementConfig(steps=0)}))
    )
    assert record.text == LETTER
    assert record.spent.steps["draft"].calls == 2


async def test_a_request_that_the_server_rejects_costs_its_record_only() -> None:
    def answer(request: Request) -> Any:
        first = request.tags["record_id"].endswith("0") and request.tags["step"] == "contexts"
        return RequestRejected("too long") if first else scripted({})(request)

    outcomes = await map_bounded(chain_of(FakeBackend(answer)).run, range(2), 2)
    assert isinstance(outcomes[0], Reject)
    assert (outcomes[0].outcome, outcomes[0].reason) == ("quarantined", "request_rejected")
    assert isinstance(outcomes[1], Record)


async def test_a_text_that_the_embedder_rejects_costs_its_record_only() -> None:
    class Choosy(HashEmbedder):
        async def embed(self, texts: Any) -> Any:
            if LETTER in texts:
                raise RequestRejected("too long")
            return await super().embed(texts)

    def answer(request: Request) -> Any:
        return scripted({"draft": [LETTER]} if request.tags["record_id"].endswith("0") else {})(request)

    outcomes = await map_bounded(chain_of(FakeBackend(answer), embedder=Choosy()).run, range(2), 2)
    assert isinstance(outcomes[0], Reject)
    assert (outcomes[0].outcome, outcomes[0].step, outcomes[0].reason) == ("quarantined", "embed", "request_rejected")
    assert isinstance(outcomes[1], Record)


async def test_a_backend_that_is_away_is_the_shards_trouble_not_the_records() -> None:
    with pytest.raises(BackendUnavailable):
        await chain_of(FakeBackend(scripted({"draft": [BackendUnavailable("down")]}))).run(0)


async def test_people_under_age_cost_nothing() -> None:
    backend = writer()
    reject = await reject_of(chain_of(backend, config=CHILDREN))
    assert (reject.outcome, reject.step, reject.reason) == ("filtered", "draws", "under_age")
    assert backend.requests == []
    assert (reject.spent.calls, reject.spent.tokens, reject.spent.cost_usd) == (0, Usage(), 0.0)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
async def test_the_asked_share_of_records_is_labelled(share: float) -> None:
    backend = writer()
    config = NO_POOL.model_copy(update={"label_share": share, "refinement": RefinementConfig(steps=0)})
    outcomes = await map_bounded(chain_of(backend, config=config).run, range(12), 1)
    labelled = [isinstance(each, Record) and each.label is not None for each in outcomes]
    assert sum(labelled) == len(asked(backend, "label"))
    assert sum(labelled) == 12 * share if share in (0, 1) else 0 < sum(labelled) < 12


# --- ablations ---


async def test_without_revision_the_draft_is_the_record() -> None:
    backend = FakeBackend(scripted({"draft": [LETTER]}))
    config = PLAIN.model_copy(update={"refinement": RefinementConfig(steps=0)})
    record = await record_of(chain_of(backend, config=config))
    assert (record.text, record.refinement) == (LETTER, ())
    assert asked(backend) == [*STEPS, *ANNOTATION]


async def test_without_record_type_and_format_neither_is_asked_nor_stored() -> None:
    backend = writer()
    record = await record_of(chain_of(backend, config=PLAIN.model_copy(update={"record_type_and_format": False})))
    assert not {"record_types", "formats"} & set(asked(backend))
    (row,) = rows(record)["records"]
    assert (row["record_type"], row["format"]) == (None, None)
    assert row["context"]
    assert not any("None" in message.content for request in backend.requests for message in request.messages)


# --- the mix ---


def mixed(weights: dict[str, float]) -> Chain:
    models = [MixedModel(FakeBackend(scripted({}), name), weight, lambda _: 0.0) for name, weight in weights.items()]
    return Chain(7, CHILDREN, models, HashEmbedder(), pool_of([]), MemoryLog())


async def writers(chain: Chain, indices: Iterable[int]) -> dict[int, str]:
    return {index: (await chain.run(index)).identity.model for index in indices}


async def test_models_write_in_proportion_to_their_weights() -> None:
    weights = {"large": 5.0, "middle": 2.0, "small": 0.5}
    written = Counter((await writers(mixed(weights), range(600))).values())
    assert fit([written[name] for name in weights], list(weights.values()))


async def test_who_writes_a_record_never_changes() -> None:
    weights = {"one": 1.0, "two": 1.0}
    forwards, backwards = range(40), reversed(range(40))
    assert await writers(mixed(weights), forwards) == await writers(mixed(weights), backwards)


async def test_one_model_writes_all_of_a_record_and_its_cost_is_its_own() -> None:
    backends = {name: FakeBackend(scripted({}), name) for name in ("free", "dear")}
    models = [
        MixedModel(backends["free"], 1, lambda _: 0.0),
        MixedModel(backends["dear"], 1, lambda usage: 2.0 * usage.completion, repeat_penalty=1.2),
    ]
    chain = Chain(7, NO_POOL, models, HashEmbedder(), pool_of([]), MemoryLog())
    for record in [await record_of(chain, index) for index in range(6)]:
        name = record.identity.model
        writers = {each for each, backend in backends.items() if record.identity.record_id in _ids(backend)}
        assert writers == {name}
        assert record.spent.cost_usd == (2.0 * record.spent.tokens.completion if name == "dear" else 0)
    drafts = [request for request in backends["dear"].requests if request.schema is None]
    assert {request.sampling.repeat_penalty for request in drafts} == {1.2}
    assert all(backend.requests for backend in backends.values())


def _ids(backend: FakeBackend) -> set[str]:
    return {request.tags["record_id"] for request in backend.requests}


# --- concurrency and replay ---


async def test_records_made_at_once_are_those_made_one_after_the_other() -> None:
    failing = {"draft": ["", "", ""]}

    def answer(request: Request) -> Any:
        return scripted(failing if request.tags["record_id"].endswith("3") else {})(request)

    at_once = await map_bounded(chain_of(PatientBackend(answer), config=NO_POOL).run, range(8), 8)
    one_by_one = [await chain_of(FakeBackend(answer), config=NO_POOL).run(index) for index in reversed(range(8))]
    assert [isinstance(each, Record) for each in at_once] == [index != 3 for index in range(8)]
    assert rows(*at_once) == rows(*one_by_one)


async def test_the_interleaving_above_is_real() -> None:
    backend = PatientBackend(scripted({}))
    await map_bounded(chain_of(backend, config=NO_POOL).run, range(8), 8)
    order = [request.tags["record_id"] for request in backend.requests]
    assert sum(first != second for first, second in pairwise(order)) > 20


@pytest.mark.parametrize("answers", [{}, {"draft": ["", "", ""]}, {"groups": ["{}"], "revise-1": ["", "", ""]}])
async def test_a_replay_asks_nothing_and_gives_the_identical_row_though_the_pool_has_changed(answers: Any) -> None:
    log = MemoryLog()
    first = await chain_of(FakeBackend(scripted(answers)), log=log, pool=pool_of(["a", "b"])).run(0)
    events = dict(log.events)
    backend, embedder = writer(), HashEmbedder()
    again = await chain_of(backend, log=log, pool=pool_of([str(n) for n in range(50)]), embedder=embedder).run(0)
    assert backend.requests == []
    assert embedder.texts == []
    assert log.events == events
    assert rows(first) == rows(again)


async def test_another_pool_does_change_a_record_that_has_no_past() -> None:
    outcomes = [await record_of(chain_of(writer(), pool=pool_of(texts))) for texts in (["a", "b"], ["c"] * 9)]
    assert [each.pool_size for each in outcomes[0].refinement] != [each.pool_size for each in outcomes[1].refinement]


@pytest.mark.parametrize("answered", [1, 5, 8, 11])
async def test_a_chain_that_was_ended_goes_on_at_the_first_unanswered_step(answered: int) -> None:
    log, calls = MemoryLog(), Counter[str]()

    def until_it_ends(request: Request) -> Any:
        calls["all"] += 1
        return BackendUnavailable("ended") if calls["all"] > answered else scripted({})(request)

    with pytest.raises(BackendUnavailable):
        await chain_of(FakeBackend(until_it_ends), log=log, config=NO_POOL).run(0)
    backend = writer()
    record = await record_of(chain_of(backend, log=log, config=NO_POOL))
    undisturbed = await record_of(chain_of(writer(), config=NO_POOL))
    assert asked(backend) == [*STEPS, *REFINEMENT, *ANNOTATION][answered:]
    assert rows(record) == rows(undisturbed)


async def test_a_changed_prompt_asks_only_what_it_touches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = MemoryLog()
    before = await record_of(chain_of(writer(), log=log, config=NO_POOL))

    edited = tmp_path / "groups.jinja"
    edited.write_text("=== user ===\nSort these facts: {% for each in attributes %}{{ each.key }} {% endfor %}\n")
    monkeypatch.setattr(attributes, "GROUPS", Prompt.load(edited))
    backend = writer()
    after = await record_of(chain_of(backend, log=log, config=NO_POOL))
    assert asked(backend) == ["groups"]
    assert (after.text, after.attributes, after.label) == (before.text, before.attributes, before.label)


async def test_a_changed_judge_asks_for_verdicts_anew_and_keeps_the_drafts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log, verdict = MemoryLog(), {f"judge-{step}": ['{"verdict": "1"}'] for step in (1, 2)}
    before = await record_of(chain_of(FakeBackend(scripted(verdict)), log=log, config=NO_POOL))
    edited = tmp_path / "judge.jinja"
    edited.write_text("=== user ===\n{{ first }}\n{{ second }}\n")
    monkeypatch.setattr(refine, "JUDGE", Prompt.load(edited))
    backend = FakeBackend(scripted(verdict))
    after = await record_of(chain_of(backend, log=log, config=NO_POOL))
    assert asked(backend) == ["judge-1", "judge-2"]
    assert after.text == before.text


async def test_a_row_has_every_column_of_the_schema() -> None:
    table = tables([await record_of(chain_of(writer()))])["records"]
    assert table.schema == RECORDS
    assert table.num_rows == 1
