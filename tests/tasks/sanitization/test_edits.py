"""What may take a chunk's place: the chunk with its spans changed, and nothing else."""

import pytest

from tasks.sanitization.edits import REACH, EditUnusable, check_edit
from tasks.sanitization.occurrences import Found

BEFORE = "Ana Lima came to the clinic in Porto on 3 May 2019. " + "She told them one two three. " * 3 + "She was tired."


def found(text: str, within: str = BEFORE) -> Found:
    start = within.index(text)
    return Found(start, start + len(text), text, "value")


DATE = [found("3 May 2019")]


@pytest.mark.parametrize(
    "after",
    [
        BEFORE,
        BEFORE.replace("on 3 May 2019", "in spring"),
        BEFORE.replace(" on 3 May 2019", ""),
        BEFORE.replace("clinic in Porto on 3 May 2019", "clinic in Porto at a time that need not be known to anybody"),
    ],
)
def test_a_change_at_the_span_is_taken(after: str) -> None:
    assert check_edit(BEFORE, DATE, after) == after


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("", "empty_chunk"),
        (" \n", "empty_chunk"),
        ("I'm sorry, but I can't help with that request.", "refusal"),
        (f"```\n{BEFORE}\n```", "wrapped"),
        (f"Here is the edited text:\n{BEFORE}", "wrapped"),
        (f"Sure! {BEFORE}", "wrapped"),
        (f"<text 0a1b2c3d>\n{BEFORE}\n</text 0a1b2c3d>", "wrapped"),
        (f"<think>drop it</think>{BEFORE}", "wrapped"),
        (f"{BEFORE}\n\nLet me know if you would like me to change it.", "wrapped"),
        (BEFORE.replace("She was tired.", ""), "text_lost"),
        (BEFORE.replace("tired", "exhausted"), "text_lost"),
        (BEFORE.replace("was tired", "was really tired"), "text_added"),
        (f"{BEFORE} The end is well known.", "text_added"),
    ],
)
def test_anything_else_is_refused_by_name(after: str, reason: str) -> None:
    with pytest.raises(EditUnusable) as caught:
        check_edit(BEFORE, DATE, after)
    assert caught.value.reason == reason


def test_what_the_chunk_itself_has_is_no_wrapping() -> None:
    before = "Here is the letter:\n```\nAna Lima\n```"
    assert check_edit(before, [found("Ana Lima", before)], before.replace("Ana Lima", "She"))


def test_words_may_change_up_to_the_reach_of_a_span_and_no_further() -> None:
    words = [f"w{place}" for place in range(REACH + 3)]
    before = " ".join(["Ana", *words])
    span = [found("Ana", before)]
    assert check_edit(before, span, before.replace(f" w{REACH - 1}", ""))
    with pytest.raises(EditUnusable, match=f"w{REACH}"):
        check_edit(before, span, before.replace(f" w{REACH}", ""))


def test_scripts_without_spaces_are_compared_letter_by_letter() -> None:
    before = "我叫安娜，住在北京市海淀区中关村大街一号院二十三号楼。"
    span = [found("安娜", before)]
    assert check_edit(before, span, before.replace("安娜", "某人"))
    with pytest.raises(EditUnusable, match="missing"):
        check_edit(before, span, before.replace("二十三号楼", ""))
