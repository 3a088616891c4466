"""The words that tell a target: copied letter by letter, asked for again, then looked for by likeness and marked."""

import pytest

from infra.llm.fake import FakeBackend
from tasks.ask import StepFailed
from tasks.sanitization.occurrences import Found
from tasks.sanitization.spans import Copied, copy_spans, merged, name_chunks
from tasks.sanitization.targets import Target
from tests.tasks.sanitization.records import attribute
from tests.tasks.sanitization.script import to_json
from tests.tasks.synthesis.script import asker

TEXT = "Dr. Karim saw Ana Lima. Karim told ANA lima to rest."
NAME = Target("patient name", (attribute("name", "Ana Lima"),), False, "drop", 5.0)


def replying(*replies: object) -> FakeBackend:
    return FakeBackend(lambda request: to_json(replies[int(request.tags["attempt"])]))


async def copied(backend: FakeBackend) -> Copied:
    return await copy_spans(asker(backend), "spans", NAME, TEXT, similarity=85, temperature=0)


async def test_every_occurrence_of_a_copied_stretch_is_a_span_exact_or_folded() -> None:
    spans = (await copied(replying({"spans": ["Ana Lima"]}))).found
    assert spans == (Found(14, 22, "Ana Lima", "exact"), Found(35, 43, "ANA lima", "folded"))


async def test_a_stretch_that_is_not_there_is_asked_for_again_with_its_name() -> None:
    backend = replying({"spans": ["Ana Lina"]}, {"spans": ["Karim"]})
    assert [span.text for span in (await copied(backend)).found] == ["Karim", "Karim"]
    assert "'Ana Lina'" in backend.requests[1].messages[-1].content


async def test_the_second_time_it_is_matched_by_likeness_and_marked() -> None:
    result = await copied(replying(*[{"spans": ["saw Ana Lina", "an umbrella of glass"]}] * 2))
    assert result == Copied((Found(10, 22, "saw Ana Lima", "fuzzy"),), ("an umbrella of glass",))


async def test_no_span_is_an_answer() -> None:
    backend = replying({"spans": []})
    assert await copied(backend) == Copied((), ())
    assert len(backend.requests) == 1


async def test_chunks_are_named_by_numbers_that_exist() -> None:
    assert await name_chunks(asker(replying({"parts": [2, 1]})), "relevant", NAME, ["a", "b"], 0) == {0, 1}
    with pytest.raises(StepFailed):
        await name_chunks(asker(replying(*[{"parts": [3]}] * 3)), "relevant", NAME, ["a", "b"], 0)


def test_a_span_within_another_is_left_out_and_values_go_before_copies() -> None:
    value, inner, same = Found(2, 8, "abcdef", "value"), Found(3, 5, "bc", "exact"), Found(2, 8, "abcdef", "exact")
    beyond = Found(7, 9, "fg", "exact")
    assert merged([value], [inner, same, beyond]) == (value, beyond)
