from collections import Counter

import numpy as np
import pytest
import torch

from tasks.measuring.sampling import Prompt, Sampling, draw, pick, uniforms
from tests.tasks.measuring.parrot import Parrot
from tests.tasks.surprise.scoring.tiny import gpt2, llama, qwen3

PROMPTS = [
    Prompt("a", (5, 6, 7), 6),
    Prompt("b", (9,), 4),
    Prompt("c", (5, 6, 7, 8, 11, 12, 13), 6),
    Prompt("d", (300, 6, 7), 1),
]


def naive(lm: torch.nn.Module, prompt: Prompt, sampling: Sampling, ends: frozenset[int]) -> list[tuple[int, ...]]:
    """The definition: one sample at a time, everything read anew for each token."""
    found = []
    for sample in range(sampling.samples):
        numbers, written = uniforms(sampling.seed, prompt.id, sample, prompt.most_tokens), list[int]()
        for step in range(prompt.most_tokens):
            with torch.inference_mode():
                logits = lm(torch.tensor([[*prompt.ids, *written]])).logits[0, -1].double().numpy()
            share = np.exp(logits - logits.max())
            token = int(np.searchsorted(share.cumsum() / share.sum(), numbers[step], side="right"))
            if token in ends:
                break
            written.append(token)
        found.append(tuple(written))
    return found


@pytest.mark.parametrize("make", [qwen3, llama, gpt2])
def test_samples_are_those_of_the_plain_loop(make) -> None:  # noqa: ANN001 - a fixture's function
    lm, sampling, ends = make().double(), Sampling(samples=3, seed=4), frozenset(range(0, 400, 5))
    drawn = draw(lm, PROMPTS, sampling, ends=ends)
    assert drawn == [naive(lm, prompt, sampling, ends) for prompt in PROMPTS]
    assert {len(each) for samples in drawn for each in samples} > {0, 4}  # some ended at once, some not at all


@pytest.mark.parametrize("rows", [1, 2, 5, 7])
def test_the_size_of_batches_changes_nothing(rows: int) -> None:
    lm, sampling = qwen3().double(), Sampling(samples=4)
    assert draw(lm, PROMPTS, sampling, ends=(3,), rows=rows) == draw(lm, PROMPTS, sampling, ends=(3,), rows=64)


def test_more_samples_go_on_from_fewer_and_prompts_do_not_disturb_each_other() -> None:
    lm = qwen3().double()
    (few,) = draw(lm, PROMPTS[:1], Sampling(samples=2), ends=())
    many, _ = draw(lm, PROMPTS[:2], Sampling(samples=5), ends=())
    assert many[:2] == few
    assert draw(lm, PROMPTS[:1], Sampling(samples=2, seed=1), ends=())[0] != few


def test_a_prompt_is_read_once_for_all_its_samples() -> None:
    parrot = Parrot(50, [(1, 2, 3, 4)])
    assert draw(parrot, [Prompt("a", (1, 2), 2)], Sampling(samples=8), ends=()) == [[(3, 4)] * 8]
    assert parrot.rows_read == 1 + 8  # the prompt, then one step


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    logits = torch.log(torch.tensor([0.5, 0.0, 0.3, 0.2])).repeat(4000, 1)
    numbers = torch.from_numpy(np.random.default_rng(1).random(4000))
    counted = Counter(pick(logits, numbers, Sampling(samples=1)).tolist())
    assert counted[1] == 0
    assert [counted[token] / 4000 for token in (0, 2, 3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)


def test_a_large_vocabulary_is_summed_up_in_parts() -> None:
    logits = torch.randn(50, 200_000, generator=torch.Generator().manual_seed(1))  # ten million: three parts
    numbers = torch.from_numpy(np.random.default_rng(1).random(50))
    one_by_one = [pick(logits[row, None], numbers[row, None], Sampling(samples=1)) for row in range(50)]
    assert torch.equal(pick(logits, numbers, Sampling(samples=1)), torch.cat(one_by_one))


def test_temperature_and_nucleus_shape_the_draw() -> None:
    shares = torch.tensor([[0.2, 0.5, 0.3]])
    logits, edges = shares.log(), torch.tensor([0.0, 0.1, 0.3, 0.6, 0.9, 0.999])

    def picked(**asked: float) -> list[int]:
        return [int(pick(logits, edge[None].double(), Sampling(samples=1, **asked))) for edge in edges]  # type: ignore[arg-type]

    assert picked() == [0, 0, 1, 1, 2, 2]
    assert picked(top_p=0.79) == [1, 1, 1, 1, 2, 2]  # 0.5 is not enough, 0.8 is: of those, 5/8 are token 1
    assert picked(top_p=0.5) == [1] * 6
    assert picked(temperature=0) == [1] * 6
    assert picked(temperature=0.5) == [0, 0, 1, 1, 2, 2]  # squares: 4, 25 and 9 of 38
    assert int(pick(logits, torch.tensor([0.12]).double(), Sampling(samples=1, temperature=0.5))) == 1


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="a: an empty prompt"):
        draw(Parrot(5, []), [Prompt("a", (), 2)], Sampling(samples=1), ends=())
