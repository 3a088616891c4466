from collections.abc import Sequence
from typing import Self

from infra.llm.completions import Continued
from tasks.measuring.remote import ServedSampler, seed_of
from tasks.measuring.sampling import Prompt, Sampling
from tests.tasks.surprise.scoring.tiny import chat_tokenizer

TOKENIZER = chat_tokenizer("")
END = TOKENIZER.eos_token_id


class Served:
    """A server that continues with the prompt's last token, so often as it is allowed, and then ends."""

    model, in_flight = "served", 3

    def __init__(self, *, tells_ids: bool) -> None:
        self.tells_ids = tells_ids
        self.seeds: list[int] = []

    async def complete(
        self, ids: Sequence[int], *, max_tokens: int, temperature: float, top_p: float, seed: int
    ) -> Continued:
        assert (temperature, top_p) == (1.0, 1.0)
        self.seeds.append(seed)
        written = (ids[-1],) * (max_tokens - 1)
        return Continued(TOKENIZER.decode(list(written)), (*written, END) if self.tells_ids else None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None: ...


def test_each_sample_is_asked_for_with_a_seed_of_its_own() -> None:
    served = Served(tells_ids=True)
    sampler = ServedSampler(served, TOKENIZER, {END})
    drawn = sampler.draw([Prompt("a", (70, 71), 3), Prompt("b", (72,), 2)], Sampling(samples=2, seed=5))
    assert drawn == [[(71, 71)] * 2, [(72,)] * 2]  # without the end
    assert sorted(served.seeds) == sorted(seed_of(5, prompt, sample) for prompt in "ab" for sample in (0, 1))
    assert len(set(served.seeds)) == 4
    assert max(served.seeds) < 2**31


def test_a_text_is_read_back_as_tokens() -> None:
    (letter,) = TOKENIZER("x")["input_ids"]
    sampler = ServedSampler(Served(tells_ids=False), TOKENIZER, {END})
    assert sampler.draw([Prompt("a", (letter,), 4)], Sampling(samples=1)) == [[(letter,) * 3]]
