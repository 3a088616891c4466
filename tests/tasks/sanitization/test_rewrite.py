"""Hiding one target: which chunks are asked about, in which order, and that no other is touched."""

import asyncio
from typing import Any

import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import Reply, Request
from tasks.ask import StepFailed
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.rewrite import Work, applied, hide
from tasks.sanitization.targets import Label, Target
from tests.tasks.sanitization.records import attribute
from tests.tasks.sanitization.script import GENERAL, honest, scripted, to_json
from tests.tasks.synthesis.script import asked, asker, cut_off

CHUNKS = [
    "Ana Lima, file 4471\n\n",
    "Nothing of her is in this part of it.\n\n",
    "  She is Ana Lima.\r\n\r\n",
    "ANA LIMA\n",
]
CONFIG = SanitizationConfig()


def name_target(label: Label = "abstract") -> Target:
    return Target("patient name", (attribute("name", "Ana Lima"),), False, label, 5.0)


async def hidden(backend: FakeBackend, label: Label = "abstract", texts: list[str] = CHUNKS) -> Work:
    return await hide(asker(backend), name_target(label), texts, "0", CONFIG)


async def test_every_chunk_with_the_value_is_edited_and_the_others_are_untouched() -> None:
    work = await hidden(FakeBackend(honest))
    assert [(edit.chunk, edit.named) for edit in work.edits] == [(0, True), (2, True), (3, False)]
    assert applied(CHUNKS, work) == [
        f"{GENERAL}, file 4471\n\n",
        CHUNKS[1],
        f"  She is {GENERAL}.\r\n\r\n",
        f"{GENERAL}\n",
    ]


async def test_the_value_is_found_where_the_model_names_no_chunk_and_copies_nothing() -> None:
    silent = {"relevant-0": [to_json({"parts": []})]} | {f"spans-0-{n}": [to_json({"spans": []})] for n in (0, 2, 3)}
    work = await hidden(FakeBackend(scripted(silent)))
    assert [edit.named for edit in work.edits] == [False] * 3
    assert [span.match for edit in work.edits for span in edit.spans] == ["value"] * 3


async def test_a_chunk_that_the_model_names_in_vain_is_not_edited() -> None:
    backend = FakeBackend(scripted({"relevant-0": [to_json({"parts": [1, 2]})]}))
    work = await hidden(backend)
    assert [edit.chunk for edit in work.edits] == [0, 2, 3]
    assert "apply-0-1" not in asked(backend)


async def test_one_instruction_is_written_from_all_chunks_and_applied_to_each() -> None:
    backend = FakeBackend(honest)
    work = await hidden(backend)
    (abstraction,) = (request for request in backend.requests if request.tags["step"] == "abstraction-0")
    assert all(CHUNKS[edit.chunk] in abstraction.messages[-1].content for edit in work.edits)
    edits = [request for request in backend.requests if request.tags["step"].startswith("apply-")]
    assert all(work.instruction in request.messages[-1].content for request in edits)


async def test_drop_has_a_fixed_instruction_and_asks_for_none() -> None:
    backend = FakeBackend(honest)
    work = await hidden(backend, "drop")
    assert work.instruction == "Drop the information about patient name from the text."
    assert "abstraction-0" not in asked(backend)


async def test_a_target_that_stands_nowhere_any_more_costs_one_call_and_edits_nothing() -> None:
    backend = FakeBackend(honest)
    work = await hidden(backend, texts=[CHUNKS[1]])
    assert work.edits == ()
    assert asked(backend) == ["relevant-0"]


async def test_white_space_around_a_chunk_and_its_line_ends_stay() -> None:
    text = " \tAna Lima\r\nfile\r\n\r\n"
    backend = FakeBackend(scripted({"apply-0-0": [to_json({"edited": "Someone\nfile"})]}))
    assert applied([text], await hidden(backend, texts=[text])) == [" \tSomeone\r\nfile\r\n\r\n"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (to_json({"edited": ""}), "empty_chunk"),
        (to_json({"edited": "I'm sorry, but I can't help with that request."}), "refusal"),
        (to_json({"edited": "```\nsomeone, file 4471\n```"}), "wrapped"),
        ("Here you are: Ana", "invalid_reply"),
        ("", "empty_reply"),
        (cut_off('{"edited": "someone'), "cut_off"),
    ],
)
async def test_a_bad_edit_is_asked_again_and_then_fails_with_its_reason(bad: Reply | str, reason: str) -> None:
    once = FakeBackend(scripted({"apply-0-0": [bad]}))
    assert applied(CHUNKS, await hidden(once))[0] == f"{GENERAL}, file 4471\n\n"
    always = FakeBackend(scripted({"apply-0-0": [bad] * 3}))
    with pytest.raises(StepFailed) as failed:
        await hidden(always)
    assert (failed.value.step, failed.value.reason) == ("apply-0-0", reason)


LOST = to_json({"edited": "someone"})  # and where is the rest?
STORY = "now, for she is the one who has the keys of the house that stood empty for so long behind the old mill, and"
LONG = f"Call Ana Lima {STORY} Ana Lima is in. Ana Lima\n"


async def test_where_a_model_cannot_repeat_the_text_it_is_asked_for_the_words_alone() -> None:
    backend = FakeBackend(scripted({"apply-0-0": [LOST] * 3}))
    work = await hidden(backend, texts=[LONG, CHUNKS[0]])
    assert applied([LONG, CHUNKS[0]], work) == [LONG.replace("Ana Lima", GENERAL), f"{GENERAL}, file 4471\n\n"]
    assert [edit.how for edit in work.edits] == ["replaced", "rewritten"]
    assert asked(backend).count("replace-0-0") == 1


async def test_words_that_say_the_value_again_are_asked_again_and_then_fail() -> None:
    told = to_json({"1": "ana  LIMA, that is"})
    answers = {"apply-0-0": [LOST] * 3, "replace-0-0": [told]}
    work = await hidden(FakeBackend(scripted(answers)), texts=[LONG])
    assert applied([LONG], work) == [LONG.replace("Ana Lima", GENERAL)]
    with pytest.raises(StepFailed) as failed:
        await hidden(FakeBackend(scripted(answers | {"replace-0-0": [told] * 3})), texts=[LONG])
    assert (failed.value.step, failed.value.reason) == ("replace-0-0", "unusable_reply")


async def test_words_may_be_left_out_only_where_the_target_is_dropped_and_no_two_blanks_meet() -> None:
    nothing = {"apply-0-0": [LOST] * 3, "replace-0-0": [to_json({"1": ""})]}
    dropped = await hidden(FakeBackend(scripted(nothing)), "drop", [LONG])
    assert applied([LONG], dropped) == [f"Call {STORY} is in. \n"]
    abstracted = await hidden(FakeBackend(scripted(nothing)), texts=[LONG])
    assert applied([LONG], abstracted) == [LONG.replace("Ana Lima", GENERAL)]


async def test_spans_that_overlap_are_replaced_as_one() -> None:
    copied = {"spans-0-0": [to_json({"spans": ["Call Ana Lima", "Lima now"]})]}
    lost = {"apply-0-0": [LOST] * 3, "replace-0-0": [to_json({"1": "Call someone", "2": "someone"})]}
    work = await hidden(FakeBackend(scripted(copied | lost)), texts=[LONG])
    assert applied([LONG], work) == [f"Call someone{STORY.removeprefix('now')} someone is in. someone\n"]


class Crowd(FakeBackend):
    """Counts how many requests are open at once, of each kind of step."""

    def __init__(self) -> None:
        super().__init__(honest)
        self.open: list[str] = []
        self.most: dict[str, int] = {}
        self.mixed = False

    async def complete(self, request: Request) -> Any:
        kind = request.tags["step"].partition("-")[0]
        self.open.append(kind)
        self.most[kind] = max(self.most.get(kind, 0), self.open.count(kind))
        self.mixed |= len(set(self.open)) > 1
        await asyncio.sleep(0.001)
        self.open.remove(kind)
        return await super().complete(request)


async def test_the_chunks_of_a_target_are_worked_on_at_once_and_its_steps_one_after_the_other() -> None:
    crowd = Crowd()
    await hidden(crowd)
    assert crowd.most == {"relevant": 1, "spans": 3, "abstraction": 1, "apply": 3}
    assert not crowd.mixed
