import numpy as np
import pytest

from tasks.surprise.baselines.fixed import Oracle, Random, draws, masked_tokens
from tasks.surprise.baselines.methods import AtThreshold, Material, is_masked
from tasks.surprise.documents import Document, Label
from tests.tasks.surprise.baselines.materials import Given, material_of

MASK64 = (1 << 64) - 1
WORDS = [["a ", "b ", "c "] * 40, ["d "] * 60, [], ["e ", "f "] * 50]


def corpus(order: list[int]) -> Material:
    names = ["first", "second", "third", "fourth"]
    return material_of([WORDS[i] for i in order], names=[names[i] for i in order])


def mask(method: Random, material: Material) -> list[bool]:
    return is_masked(method.levels(material).levels).tolist()


def test_the_oracle_masks_tokens_that_share_a_character_with_a_label() -> None:
    material = material_of([["ab", "cd", "ef"], ["gh"]], labels=[[(1, 3)], []])
    assert is_masked(Oracle().levels(material).on_tokens(material.scored("t").tokens)).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_the_oracle_leaves_unsupervised_targets() -> None:
    material = material_of([["ab", "cd"]], labels=[[(0, 4)]], supervised=[[(2, 4)]])
    assert is_masked(Oracle().levels(material).on_characters()).tolist() == [False, False, True, True]


def test_without_tokens_the_oracle_masks_labelled_characters() -> None:
    material = Material([Document("a", "abcd", labels=(Label(1, 3), Label(2, 3)))])
    assert is_masked(Oracle().levels(material).on_characters()).tolist() == [False, True, True, False]


def test_a_draw_is_splitmix64_of_the_hashed_document_id() -> None:
    import hashlib

    start = int.from_bytes(hashlib.blake2b(b"7:doc", digest_size=8).digest(), "little")
    expected = []
    for place in range(1, 4):
        z = (start + place * 0x9E3779B97F4A7C15) & MASK64
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        expected.append((z ^ (z >> 31)) >> 1)
    assert draws(7, ["doc"], np.array([0, 3])).tolist() == expected


@pytest.mark.parametrize("budget", [0, 1, 57, 279, 280])
def test_exactly_the_budget_is_masked(budget: int) -> None:
    material = corpus([0, 1, 2, 3])
    assert sum(mask(Random.matched(1, budget, [material]), material)) == budget


def test_the_mask_depends_neither_on_order_nor_on_shards() -> None:
    whole = corpus([0, 1, 2, 3])
    method = Random.matched(1, 90, [whole])
    assert Random.matched(1, 90, [corpus([3, 1]), corpus([2, 0])]) == method
    first, second, fourth = mask(method, whole)[:120], mask(method, whole)[120:180], mask(method, whole)[180:]
    assert mask(method, corpus([3, 1, 0])) == fourth + second + first


def test_another_seed_masks_other_tokens() -> None:
    material = corpus([0, 1, 2, 3])
    masks = [mask(Random.matched(seed, 140, [material]), material) for seed in (1, 2)]
    assert 40 < np.sum(np.array(masks[0]) & np.array(masks[1])) < 100  # about half of each half


def test_draws_are_uniform() -> None:
    drawn = draws(0, ["a", "b"], np.array([0, 50_000, 100_000])) / 2**63
    share = np.histogram(drawn, bins=10, range=(0, 1))[0] / drawn.size
    assert np.abs(share - 0.1).max() < 5 * np.sqrt(0.09 / drawn.size)


def test_only_supervised_tokens_are_drawn() -> None:
    material = material_of([["a"] * 50], supervised=[[(10, 20)]])
    assert np.flatnonzero(mask(Random.matched(4, 10, [material]), material)).tolist() == list(range(10, 20))
    with pytest.raises(ValueError, match="a budget of 11 tokens: there are 10"):
        Random.matched(4, 11, [material])


def test_an_id_given_twice_is_noticed_at_the_cut() -> None:
    material = material_of([["a"], ["b"]], names=["same", "same"])
    with pytest.raises(ValueError, match="draw alike"):
        Random.matched(0, 1, [material])


def test_the_budget_of_another_method_is_its_masked_supervised_tokens() -> None:
    material = material_of([["a", "b", "c", "d"]], supervised=[[(1, 4)]])
    assert masked_tokens(AtThreshold(Given([5, 5, 5, 1]), 2), [material, material]) == 4
    with pytest.raises(ValueError, match="given has no budget before its threshold is set"):
        masked_tokens(Given([5, 5, 5, 1]), [material])
