import math

import numpy as np
import pytest

from tasks.measuring.gold_examples import chat_example, document_example
from tasks.measuring.utility.gold import GoldNll, gold_nll, gold_result
from tasks.training.answers import Answers
from tasks.training.examples import IGNORED
from tests.tasks.surprise.scoring.tiny import SAMPLE, chat_tokenizer, naive_nll, qwen3
from tests.tasks.training.chatml import QWEN3

TOKENIZER = chat_tokenizer(QWEN3)


def test_the_answer_counts_and_nothing_before_it() -> None:
    model, answers = qwen3(), Answers(TOKENIZER, 400)
    examples = [chat_example(answers, str(place), "Add two.", text) for place, text in enumerate(SAMPLE)]
    for example, found in zip(examples, gold_nll(model, examples, rows=2), strict=True):
        counts = example.labels != IGNORED
        answer = [*TOKENIZER(SAMPLE[int(example.id)])["input_ids"], TOKENIZER.convert_tokens_to_ids("<|im_end|>")]
        assert found.tokens == len(answer) == counts.sum()
        expected = naive_nll(model, example.ids.tolist(), 0)[-len(answer) :].astype(np.float64).sum()
        assert found.nll == pytest.approx(expected, rel=1e-5)


def test_every_token_of_a_document_counts() -> None:
    model, example = qwen3(), document_example(TOKENIZER, "d", SAMPLE[1])
    ids = [TOKENIZER.bos_token_id, *TOKENIZER(SAMPLE[1])["input_ids"]]
    assert example.ids.tolist() == ids
    (found,) = gold_nll(model, [example])
    assert found.tokens == len(ids) - 1
    assert found.nll == pytest.approx(naive_nll(model, ids, 1).astype(np.float64).sum(), rel=1e-5)


def test_answers_weigh_the_same_however_long_they_are() -> None:
    result = gold_result([GoldNll("a", 1, 3.0), GoldNll("b", 9, 9.0)])
    assert (result.mean_nll, result.pooled_nll, result.tokens) == (2.0, 1.2, 10)
    assert result.perplexity == pytest.approx(math.e**2)
    assert result.standard_error == pytest.approx(1.0)  # means 3 and 1: deviation sqrt(2), by sqrt(2)


@pytest.mark.parametrize("bad", [[], [GoldNll("a", 0, 0.0)], [GoldNll("a", 2, math.nan)]])
def test_what_has_no_mean_is_refused(bad: list[GoldNll]) -> None:
    with pytest.raises(ValueError, match=r"no gold answers|cannot be averaged"):
        gold_result(bad)
