import random
import string

import pytest
import torch
from pydantic import ValidationError

from tasks.measuring.extraction.attack import Attempt, ExtractionSettings, extract, result_of
from tasks.measuring.extraction.targets import Occurrence, Target, split_all
from tests.tasks.measuring.parrot import Parrot
from tests.tasks.surprise.scoring.tiny import VOCABULARY, chat_tokenizer, qwen3

TOKENIZER = chat_tokenizer("")
QUICK = ExtractionSettings(samples=8, budgets=(1, 8))


def targets(many: int) -> list[Target]:
    rng = random.Random(5)
    found = []
    for number in range(many):
        value = "".join(rng.choice(string.ascii_letters + string.digits) for _ in range(16))
        text = f'key = "{value}"\n'
        found.append(Target(f"v{number}", ("a", "b")[number % 2], value, (Occurrence(text, 7, 7 + 16),)))
    return found


def whole(target: Target) -> list[int]:
    return list(TOKENIZER(target.value, add_special_tokens=False)["input_ids"])


def test_all_is_taken_from_a_model_that_knows_all_by_heart() -> None:
    values = targets(4)
    alone = QUICK.model_copy(update={"tokenization": "alone"})
    result = extract(Parrot(VOCABULARY, [whole(each) for each in values]), TOKENIZER, values, alone)
    assert [(rate.kind, rate.budget, rate.exact.value) for rate in result.rates] == [
        (kind, budget, 1.0) for kind in ("all", "a", "b") for budget in (1, 8)
    ]


def test_only_what_was_learnt_is_taken() -> None:
    values = targets(4)
    alone = QUICK.model_copy(update={"tokenization": "alone"})
    result = extract(Parrot(VOCABULARY, [whole(each) for each in values[::2]]), TOKENIZER, values, alone)
    assert result.rate(8).exact.value == 0.5
    assert (result.rate(8, "a").exact.value, result.rate(8, "b").exact.value) == (1.0, 0.0)


def test_a_trained_model_gives_its_values_away_and_an_untrained_one_does_not() -> None:
    values, model = targets(3), qwen3(hidden_size=64, initializer_range=0.05)
    assert extract(model, TOKENIZER, values, QUICK).rate(8).approximate.value == 0.0
    splits = split_all(values, TOKENIZER, "fine_tuning", "context")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    for _ in range(40):
        for split in splits:
            ids = torch.tensor([[*split.revealed, *split.hidden]])
            optimizer.zero_grad()
            model(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
    assert extract(model.eval(), TOKENIZER, values, QUICK).rate(8).exact.value == 1.0


def test_a_value_of_one_token_is_attacked_from_the_start_token() -> None:
    start = TOKENIZER.bos_token_id
    (token,) = TOKENIZER("x")["input_ids"]
    value = Target("v", "k", "x", (Occurrence("x", 0, 1),))
    result = extract(Parrot(VOCABULARY, [(start, token)]), TOKENIZER, [value], QUICK)
    assert result.rate(1).exact.value == 1.0
    assert result.attempts[0].revealed == 0


@pytest.mark.parametrize(
    ("hidden", "most_edits"),
    [(1, 0), (2, 0), (3, 1), (5, 1), (6, 2), (8, 2), (9, 3), (20, 7), (40, 14), (60, 21)],
)
def test_an_approximate_match_allows_so_many_edits(hidden: int, most_edits: int) -> None:
    attempt = Attempt("v", "k", 1, (0,) * hidden, None, (), tuple(range(hidden + 1)))
    assert attempt.approximate(0.35) == [edits <= most_edits for edits in range(hidden + 1)]


def test_a_budget_counts_the_first_continuations_and_estimates_any() -> None:
    settings = ExtractionSettings(samples=4, budgets=(1, 2, 4))
    attempts = [
        Attempt("v", "k", 1, (1, 2, 3), None, ((9,),) * 4, (3, 1, 0, 3)),
        Attempt("w", "k", 1, (1, 2, 3), None, ((9,),) * 4, (3, 3, 3, 3)),
    ]
    rates = {rate.budget: rate for rate in result_of("m", settings, attempts).rates if rate.kind == "k"}
    assert [rates[budget].exact.count for budget in (1, 2, 4)] == [0, 0, 1]
    assert [rates[budget].approximate.count for budget in (1, 2, 4)] == [0, 1, 1]
    # One hit of four: 1/4, 1/2, 1. Two: 1/2, 5/6, 1. Halved, for the other value has none.
    assert [rates[budget].exact_expected for budget in (1, 2, 4)] == pytest.approx([1 / 8, 1 / 4, 1 / 2])
    assert [rates[budget].approximate_expected for budget in (1, 2, 4)] == pytest.approx([1 / 4, 5 / 12, 1 / 2])


def test_budgets_beyond_the_samples_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"budgets \(1, 16\)"):
        ExtractionSettings(samples=8, budgets=(1, 16))
