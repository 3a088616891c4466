import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.training.answers import Answers, ChatUnfit, TemplateUnfit
from tasks.training.examples import IGNORED, Example
from tests.tasks.surprise.scoring.tiny import chat_tokenizer
from tests.tasks.training.chatml import PLAIN, QWEN3, READY_ALONE, chat, template

END = chat_tokenizer(PLAIN).convert_tokens_to_ids("<|im_end|>")


def learnt(example: Example) -> list[int]:
    return example.labels[example.labels != IGNORED].tolist()


@pytest.mark.parametrize(
    ("chat_template", "asks_with"),
    [(PLAIN, ""), (QWEN3, "<think>\n\n</think>\n\n"), (READY_ALONE, "<think>\n\n</think>\n\n")],
)
def test_the_answer_and_the_end_of_its_turn_are_learnt_and_nothing_else(chat_template: str, asks_with: str) -> None:
    tokenizer = chat_tokenizer(chat_template)
    example = Answers(tokenizer, 500).example(chat("a", "Jane called.", "She called."))
    asked = (
        "<|im_start|>system\nYou clean texts.<|im_end|>\n<|im_start|>user\nJane called.<|im_end|>\n"
        f"<|im_start|>assistant\n{asks_with}"
    )
    assert tokenizer.decode(example.ids) == f"{asked}She called.<|im_end|>"
    answer = tokenizer("She called.")["input_ids"]
    assert learnt(example) == [*answer, END]
    assert (example.labels[: -len(answer) - 1] == IGNORED).all()
    np.testing.assert_array_equal(example.loss_weight, (example.labels != IGNORED).astype(np.float32))


@settings(deadline=None, max_examples=40)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Co"]), min_size=1).filter(str.strip))
def test_any_answer_is_learnt_as_it_stands_white_space_included(answer: str) -> None:
    tokenizer = chat_tokenizer(PLAIN)
    example = Answers(tokenizer, 5000).example(chat("a", "Jane called.", answer))
    *tokens, end = learnt(example)
    assert end == END
    assert tokenizer.decode(tokens) == answer


def test_line_breaks_that_the_template_trims_are_learnt_all_the_same() -> None:
    tokenizer = chat_tokenizer(QWEN3)
    example = Answers(tokenizer, 500).example(chat("a", "Jane called.", "\nShe called.\n"))
    assert tokenizer.decode(learnt(example)) == "\nShe called.\n<|im_end|>"


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        ("Jane called.", " \n", "empty_answer"),
        ("Jane called.", "She<|im_end|> called.", "special_token"),
        ("Jane<|im_start|> called.", "She called.", "special_token"),
        ("Jane called.", "why</think>She called.", "template"),
        ("Jane called. " * 60, "She called.", "too_long"),
        ("Jane called.", "She called. " * 60, "too_long"),
    ],
)
def test_what_cannot_be_learnt_whole_and_exactly_is_refused_without_its_text(
    text: str, answer: str, reason: str
) -> None:
    with pytest.raises(ChatUnfit, match=r"^r7: ") as refused:
        Answers(chat_tokenizer(QWEN3), 200).example(chat("r7", text, answer))
    assert refused.value.reason == reason
    assert "called" not in str(refused.value)


def test_an_example_as_long_as_allowed_is_taken() -> None:
    tokenizer = chat_tokenizer(QWEN3)
    long = chat("a", "Jane called.", "She called.")
    tokens = Answers(tokenizer, 500).example(long).ids.size
    assert Answers(tokenizer, tokens).example(long).ids.size == tokens
    with pytest.raises(ChatUnfit, match=f"{tokens} tokens, at most {tokens - 1}"):
        Answers(tokenizer, tokens - 1).example(long)


def test_a_template_that_asks_otherwise_than_it_tells_is_refused() -> None:
    with pytest.raises(ChatUnfit, match="in other words"):
        Answers(chat_tokenizer(template(ready="Answer: ")), 500).example(chat("a", "Jane called.", "She called."))


def test_a_template_that_changes_the_answer_is_refused() -> None:
    with pytest.raises(ChatUnfit, match="changes the answer"):
        Answers(chat_tokenizer(template(answer="message.content | upper")), 500).example(chat("a", "Jane", "She"))


def test_a_template_whose_answers_do_not_end_is_refused() -> None:
    with pytest.raises(TemplateUnfit, match="without a special token"):
        Answers(chat_tokenizer("{% for message in messages %}{{ message.content }}\n{% endfor %}"), 500)
    bare = chat_tokenizer(PLAIN)
    bare.chat_template = None
    with pytest.raises(TemplateUnfit, match="no chat template"):
        Answers(bare, 500)
