import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from infra.llm.reasoning import split_message, split_text


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("<think>\nshort\n</think>\n\nDear Maria,\n", "Dear Maria,", "short"),
        ("<think></think>yes", "yes", ""),
        ("<think>never closed", "", "never closed"),
        ("Dear <think>never closed", "Dear", "never closed"),
        ("the template opened it</think>\nyes", "yes", "the template opened it"),
        ("<think>a</think>x <think>b</think>y", "x y", "a\n\nb"),
        ("<think>the tag <think> opens</think>yes", "yes", "the tag <think> opens"),
        ("<think>a <think>b</think> c</think>yes", "yes", "a <think>b\n\nc"),
        ("a</think>b</think>yes", "yes", "a\n\nb"),
    ],
)
def test_think_blocks_are_split_off(text: str, answer: str, reasoning: str) -> None:
    assert split_text(text) == (answer, reasoning)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Dear Li<|return|>",
            "Dear Li",
            "hm",
        ),
        ("hm<|end|><|start|>assistant<|channel|>final<|message|>Dear Li", "Dear Li", "hm"),
        ("<|channel|>analysis<|message|>cut off in the mid", "", "cut off in the mid"),
        ("<|channel|>final<|message|>Dear Li", "Dear Li", ""),
        ('<|channel|>final <|constrain|>json<|message|>{"a": 1}<|return|>', '{"a": 1}', ""),
        (
            "<|channel|>analysis<|message|>a<|end|><|channel|>commentary<|message|>b<|end|><|channel|>final<|message|>c",
            "c",
            "a\n\nb",
        ),
        ("analysisWe must write.assistantfinalDear Li", "Dear Li", "We must write."),
    ],
)
def test_only_the_final_harmony_channel_is_the_answer(text: str, answer: str, reasoning: str) -> None:
    assert split_text(text) == (answer, reasoning)


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=st.characters() | st.sampled_from("<>|/thinkanalysis \r\n\ufeff")))
def test_text_without_markers_is_unchanged_byte_for_byte(text: str) -> None:
    assume("think>" not in text and "<|channel|>" not in text)
    assert split_text(text) == (text, "")


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "b ", "<|channel|>final<|message|>", "<|end|>"])))
def test_no_marker_survives_in_an_answer(parts: list[str]) -> None:
    text = "".join(parts)
    assume("<|channel|>" not in text)
    assert "think>" not in split_text(text).answer


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_separate_fields_are_reasoning(field: str) -> None:
    assert split_message({"content": "yes", field: "hm"}) == ("yes", "hm")
    assert split_message({"content": None, field: "hm"}) == ("", "hm")


def test_both_fields_with_the_same_text_count_once() -> None:
    assert split_message({"content": "yes", "reasoning": "hm", "reasoning_content": "hm"}) == ("yes", "hm")
