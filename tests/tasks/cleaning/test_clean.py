from pathlib import Path

import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import BackendUnavailable, FinishReason, Reply, Request, RequestRejected, Usage
from infra.shards.journal import Journal
from tasks.cleaning.clean import Cleaned, Cleaner, original
from tasks.cleaning.config import CleaningConfig
from tasks.cleaning.failure import CleaningFailed
from tasks.cleaning.pseudonyms import Pseudonym
from tasks.evaluation.prompts import SANITIZE
from tasks.events import MemoryLog
from tests.tasks.cleaning.scripted import asked, rewriting

TEXT = "Dr. Amina Karim was seen on 12 May 2019. She felt well, and went home by bus."
CLEAN = "A doctor was seen in spring. She felt well, and went home by bus."
CONFIG = CleaningConfig()


async def clean(backend: FakeBackend, text: str = TEXT, config: CleaningConfig = CONFIG) -> Cleaned:
    return await Cleaner(backend, config).clean("a", text, "Hide who it was.", MemoryLog())


async def test_a_text_that_fits_is_asked_for_with_the_prompt_of_training_alone() -> None:
    backend = FakeBackend(lambda _: CLEAN)
    assert (await clean(backend)).text == CLEAN
    (request,) = backend.requests
    assert request.messages == SANITIZE.render(instruction="Hide who it was.", text=TEXT)
    assert request.sampling.temperature == 0


async def test_white_space_around_a_text_and_its_line_ends_stay() -> None:
    backend = rewriting(lambda text: text.replace("Ann", "she"))
    cleaned = await clean(backend, "\r\n  Ann came.\r\nAnn went.\r\n\r\n")
    assert cleaned.text == "\r\n  she came.\r\nshe went.\r\n\r\n"


def reply(text: str, finish: FinishReason = "stop", prompt: int = 0) -> Reply:
    return Reply(text, finish, Usage(prompt=prompt), "fake")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(""), "empty_reply"),
        (reply(" \n\t "), "empty_reply"),
        (reply(CLEAN[:20], "length"), "cut_off"),
        (reply("", "content_filter"), "refusal"),
        (reply("I'm sorry, but I can't help with that request."), "refusal"),
        (reply(f"```\n{CLEAN}\n```"), "wrapped"),
        (reply(f"Sure! {CLEAN}"), "wrapped"),
        (reply(f"Here is the cleaned text:\n\n{CLEAN}"), "wrapped"),
        (reply(f"Below is your revised version:\n{CLEAN}"), "leaked_markup"),
        (reply(f"**Sanitized text:**\n{CLEAN}"), "leaked_markup"),
        (reply(f"{CLEAN}\n\nNote: I removed the name of Amina Karim."), "leaked_markup"),
        (reply(f"{CLEAN}\n\nI have replaced the name and the date."), "leaked_markup"),
        (reply(f"{CLEAN}\n\nLet me know if you want changes."), "wrapped"),
        (reply(f"<think>Amina Karim must go.</think>{CLEAN}"), "wrapped"),
        (reply(f"<text 0a1b2c3d>\n{CLEAN}\n</text 0a1b2c3d>"), "wrapped"),
        (reply(f"{CLEAN}<|im_end|>"), "wrapped"),
        (reply(f"{CLEAN} \ud800"), "invalid_reply"),
        (reply(f"{CLEAN} " + "And then it rained. " * 30), "text_grown"),
        (reply("utfang pelori " * 100, "length"), "text_grown"),  # as an untrained model writes
        (reply(CLEAN, prompt=12), "prompt_cut"),
    ],
)
async def test_what_is_not_the_clean_text_alone_is_not_passed_on(answer: Reply, reason: str) -> None:
    backend = FakeBackend(lambda _: answer)
    with pytest.raises(CleaningFailed) as failed:
        await clean(backend)
    assert failed.value.reason == reason
    assert len(backend.requests) == CONFIG.attempts
    assert "Karim" not in str(failed.value)  # what reaches logs


async def test_an_answer_that_is_too_long_already_gets_no_more_room() -> None:
    backend = FakeBackend(lambda _: reply("utfang pelori " * 100, "length"))
    with pytest.raises(CleaningFailed, match="text_grown"):
        await clean(backend)
    assert len({request.sampling.max_tokens for request in backend.requests}) == 1


async def test_a_refusal_in_unlisted_words_is_no_clean_text_of_a_page() -> None:
    backend = FakeBackend(lambda _: "This kind of document is nothing that ought to be touched.")
    with pytest.raises(CleaningFailed, match="text_shrunk"):
        await clean(backend, "She came, and she left. " * 40)


async def test_a_refusal_in_unlisted_words_is_no_clean_text_of_a_line() -> None:
    backend = FakeBackend(lambda _: "Sorry, this kind of document ought to be left as it is.")
    with pytest.raises(CleaningFailed, match="text_unrelated"):
        await clean(backend, "Amina Karim came here by bus.")


async def test_all_words_of_a_short_field_may_go() -> None:
    assert (await clean(FakeBackend(lambda _: "somebody in a town"), "Amina Karim, Oslo")).text == "somebody in a town"


async def test_a_text_that_has_a_fence_or_a_chat_in_it_may_keep_them() -> None:
    text = "User: who is Ann?\nAssistant: I can't help.\n```\nprint('Ann')\n```\nNote: I removed a line."
    assert (await clean(rewriting(lambda text: text.replace("Ann", "she")), text)).text == text.replace("Ann", "she")


async def test_a_failed_attempt_is_made_again_warmer_and_with_another_seed() -> None:
    answers = iter(["", CLEAN])
    backend = FakeBackend(lambda _: next(answers))
    assert (await clean(backend)).text == CLEAN
    first, second = (request.sampling for request in backend.requests)
    assert (first.temperature, second.temperature) == (0, 0.3)
    assert first.seed != second.seed


async def test_a_cut_answer_is_asked_for_again_with_a_wider_limit() -> None:
    answers = iter([reply(CLEAN[:9], "length"), CLEAN])
    backend = FakeBackend(lambda _: next(answers))
    assert (await clean(backend)).text == CLEAN
    first, second = (request.sampling.max_tokens for request in backend.requests)
    assert second > first


async def test_a_request_that_the_server_rejects_fails_at_once() -> None:
    backend = FakeBackend(lambda _: RequestRejected("too long"))
    with pytest.raises(CleaningFailed, match="request_rejected"):
        await clean(backend)
    assert len(backend.requests) == 1


async def test_a_backend_that_is_gone_is_no_failure_of_the_text() -> None:
    with pytest.raises(BackendUnavailable):
        await clean(FakeBackend(lambda _: BackendUnavailable("gone")))


LONG = (
    "Dr. Amina Karim came on 12 May 2019.\n\n"
    + "Nothing else happened on that day. " * 40
    + "\n\n"
    + "It went on like that for a while. " * 40
    + "\n\nKarim left on 12 May 2019.\n"
)
IN_PARTS = CleaningConfig(most_bytes=512)


def hide(text: str) -> str:
    return text.replace("Dr. Amina Karim", "the doctor").replace("12 May 2019", "a spring day").replace("Karim", "she")


async def test_a_long_text_goes_in_parts_that_make_up_the_whole() -> None:
    cleaned = await clean(rewriting(hide), LONG, IN_PARTS)
    assert len(cleaned.parts) > 1
    assert original(cleaned.parts) == LONG
    assert cleaned.text == hide(LONG)


async def test_later_parts_are_told_what_replaced_a_value_in_earlier_ones_and_only_what_concerns_them() -> None:
    backend = rewriting(hide)
    await clean(backend, LONG, IN_PARTS)
    instructions = [asked(request)[0] for request in backend.requests]
    assert instructions[0] == "Hide who it was."
    assert '- "Dr. Amina Karim": write "the doctor"' in instructions[-1]
    assert '- "12 May 2019": write "a spring day"' in instructions[-1]
    between = [each for request, each in zip(backend.requests, instructions, strict=True) if "2019" not in str(request)]
    assert between == ["Hide who it was."] * len(between)


async def test_what_was_left_out_of_an_earlier_part_is_left_out_of_later_ones() -> None:
    backend = rewriting(lambda text: text.replace("Dr. Amina Karim", "").strip())
    await clean(backend, LONG, IN_PARTS)
    assert '- "Dr. Amina Karim": leave it out' in asked(backend.requests[-1])[0]


async def test_one_failed_part_fails_the_whole_text() -> None:
    backend = rewriting(lambda text: "" if "left" in text else hide(text))
    with pytest.raises(CleaningFailed, match="empty_reply"):
        await clean(backend, LONG, IN_PARTS)


async def test_a_long_text_that_must_not_be_cut_fails_before_anything_is_asked() -> None:
    backend = rewriting(hide)
    with pytest.raises(CleaningFailed, match="too_long"):
        await clean(backend, LONG * 4, CleaningConfig(in_parts=False))
    assert backend.requests == []


async def test_a_text_within_the_window_goes_whole_where_it_must_not_be_cut() -> None:
    backend = rewriting(hide)
    await clean(backend, LONG, CleaningConfig(most_bytes=512, in_parts=False))
    assert len(backend.requests) == 1


async def test_what_has_no_letters_is_passed_on_without_asking() -> None:
    backend = rewriting(hide)
    assert (await clean(backend, "* * *\n\n---\n")).text == "* * *\n\n---\n"
    assert backend.requests == []


async def test_half_a_surrogate_pair_in_the_text_is_told_as_such() -> None:
    with pytest.raises(CleaningFailed, match="unicode"):
        await clean(rewriting(hide), "Ann \ud83d came")


async def test_a_part_that_is_in_the_journal_is_not_asked_for_again(tmp_path: Path) -> None:
    def dies(request: Request) -> str | Exception:
        _, text = asked(request)
        return BackendUnavailable("killed") if "left" in text else hide(text)

    died = FakeBackend(dies)
    with Journal(tmp_path / "journal") as journal, pytest.raises(BackendUnavailable):
        await Cleaner(died, IN_PARTS).clean("a", LONG, "Hide who it was.", journal)
    again = rewriting(hide)
    with Journal(tmp_path / "journal") as journal:
        cleaned = await Cleaner(again, IN_PARTS).clean("a", LONG, "Hide who it was.", journal)
    assert cleaned.text == hide(LONG)
    assert len(again.requests) == 1


async def test_another_instruction_is_asked_for_anew() -> None:
    backend, log = rewriting(hide), MemoryLog()
    for instruction in ("Hide who it was.", "Hide when it was.", "Hide who it was."):
        await Cleaner(backend, CONFIG).clean("a", TEXT, instruction, log)
    assert len(backend.requests) == 2


async def test_a_value_with_a_pseudonym_never_reaches_the_model() -> None:
    backend = rewriting(lambda text: text.replace("12 May 2019", "a spring day"))
    known = (Pseudonym(key="name", value="Amina Karim", pseudonym="NAME-7KQ2X"),)
    text = "Amina Karim came on 12 May 2019. Then AMINA  KARIM left."
    cleaned = await Cleaner(backend, CONFIG, known).clean("a", text, "Keep Amina Karim out of it.", MemoryLog())
    assert cleaned.text == "NAME-7KQ2X came on a spring day. Then NAME-7KQ2X left."
    assert original(cleaned.parts) == text
    assert "karim" not in str(backend.requests).casefold()
    assert asked(backend.requests[0])[0].startswith("Keep NAME-7KQ2X out of it.\n\nCodes such as NAME-7KQ2X stand for")
