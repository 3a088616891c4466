import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.cleaning.config import CleaningConfig
from tasks.cleaning.failure import CleaningFailed
from tasks.cleaning.parts import parts, reply_tokens

TEXTS = st.lists(st.sampled_from(["Ann came. ", "\n\n", "王小明去了。", "word ", "x" * 40]), max_size=200).map("".join)


@given(TEXTS)
@settings(max_examples=40, deadline=None)
def test_parts_make_up_the_text_and_each_leaves_room_for_its_answer(text: str) -> None:
    config = CleaningConfig(context_tokens=2048)
    cut = parts(text, "Hide it.", config)
    assert "".join(part.text for part in cut) == text
    for part in cut:
        prompt = 0.4 * len(part.text.encode())
        assert prompt + reply_tokens(part.text) <= config.context_tokens


def test_a_text_that_fits_is_one_part() -> None:
    assert len(parts("Ann came. " * 300, "Hide it.", CleaningConfig())) == 1
    assert len(parts("Ann came. " * 600, "Hide it.", CleaningConfig())) > 1


def test_an_instruction_that_leaves_no_room_is_a_failure() -> None:
    with pytest.raises(CleaningFailed, match="too_long"):
        parts("Ann came. " * 600, "Hide it. " * 300, CleaningConfig(context_tokens=1024))
