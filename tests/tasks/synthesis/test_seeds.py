"""Generators and sampling seeds are functions of (run seed, record id, step), and stay the same functions."""

import hashlib
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.synthesis.seeds import call_seed, record_id, rng


def test_the_draws_of_a_choice_never_change() -> None:
    assert rng(7, "r-x", "age").integers(0, 1000, size=4).tolist() == [608, 500, 744, 905]
    assert rng(7, "r-x", "age").random() == 0.5006783666574658


def test_the_sampling_seeds_of_a_call_never_change() -> None:
    assert [call_seed(7, "r-x", "draft"), call_seed(7, "r-x", "draft", 1)] == [757642072, 1556412386]


def test_record_ids_never_change() -> None:
    assert record_id(7, 42) == "r-6459f252-00000042"
    assert record_id(-1, 123456789) == "r-987a802e-123456789"


def test_a_generator_is_pcg64_seeded_with_blake2b_of_the_triple() -> None:
    digest = hashlib.blake2b(b'["rng", 7, "r-x", "age"]', digest_size=16).digest()
    expected = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
    assert rng(7, "r-x", "age").bytes(32) == expected.bytes(32)


def test_each_part_of_the_triple_counts_and_parts_do_not_run_together() -> None:
    triples = [(1, "23", "4"), (12, "3", "4"), (1, "2", "34"), (1, '2", "3', "4"), (1, "23", "4 "), (-1, "23", "4")]
    starts = [rng(*triple).bytes(16) for triple in triples]
    assert all(one != other for one, other in combinations(starts, 2))


def test_taking_more_from_one_choice_leaves_the_others_as_they_are() -> None:
    untouched = rng(7, "r-x", "language").random()
    rng(7, "r-x", "age").random(1000)
    assert rng(7, "r-x", "language").random() == untouched


@settings(deadline=None, max_examples=50)
@given(st.integers(-(2**63), 2**63 - 1), st.text(), st.text(), st.integers(0, 5))
def test_sampling_seeds_are_accepted_by_every_server(run_seed: int, record: str, step: str, attempt: int) -> None:
    assert 0 <= call_seed(run_seed, record, step, attempt) < 2**31


def test_sampling_seeds_use_the_whole_range() -> None:
    drawn = [call_seed(7, record_id(7, index), "draft") for index in range(2000)]
    assert len(set(drawn)) == 2000
    assert abs(np.mean(drawn) / 2**31 - 0.5) < 4 / np.sqrt(12 * 2000)  # four standard errors of a uniform mean


def test_record_ids_are_unique_and_sort_by_index() -> None:
    ids = [record_id(7, index) for index in range(1000)]
    assert len(set(ids)) == 1000
    assert ids == sorted(ids)
    assert record_id(8, 0) not in ids


def test_a_negative_index_is_an_error() -> None:
    with pytest.raises(ValueError, match="record index -1"):
        record_id(7, -1)
