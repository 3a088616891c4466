import pytest

from tasks.measuring.answers import AnswerSettings, PromptUnusable, Question, SampledAnswers
from tasks.measuring.sampling import LocalSampler
from tests.tasks.measuring.parrot import Parrot
from tests.tasks.surprise.scoring.tiny import VOCABULARY, chat_tokenizer
from tests.tasks.training.chatml import QWEN3

TOKENIZER = chat_tokenizer(QWEN3)
END = TOKENIZER.eos_token_id


def ids(text: str) -> list[int]:
    return list(TOKENIZER(text)["input_ids"])


def answerer(prompt: str, answer: str, window: int = 300) -> SampledAnswers:
    parrot = Parrot(VOCABULARY, [[*ids(prompt), *ids(answer), END]])
    return SampledAnswers(LocalSampler(parrot, "parrot", {END}), TOKENIZER, window)


def test_a_chat_is_asked_as_in_training_and_its_answer_ends_with_the_turn() -> None:
    rendered = "<|im_start|>user\nAdd two.<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    asked = [Question("q", "t", "Add two.")]
    answers = answerer(rendered, "return first").answer(asked, AnswerSettings(samples=2, most_tokens=40))
    assert answers == [["return first"] * 2]


def test_a_document_is_continued_and_given_back_whole() -> None:
    settings = AnswerSettings(form="documents", samples=1, most_tokens=60)
    begun = "def add(first, second):\n"
    answers = answerer(begun, "    return first\n").answer([Question("q", "t", begun)], settings)
    assert answers == [["def add(first, second):\n    return first\n"]]


@pytest.mark.parametrize(
    ("prompt", "window", "why"), [("a<|im_end|>b", 300, "special token"), ("x" * 200, 50, "window has 50")]
)
def test_what_cannot_be_asked_is_refused(prompt: str, window: int, why: str) -> None:
    with pytest.raises(PromptUnusable, match=f"q: .*{why}"):
        answerer("", "", window).answer([Question("q", "t", prompt)], AnswerSettings())
