import hashlib
import unicodedata
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.baselines.goldfish import (
    TABLE_SEED,
    TABLE_SIZE,
    GoldfishPaper,
    GoldfishReference,
    dropped_contexts,
    dropped_ids,
    hash_table,
    normalise,
)
from tasks.surprise.baselines.methods import is_masked
from tasks.surprise.rows import offsets_of
from tests.tasks.surprise.baselines.materials import material_of, tokens_of

torch = pytest.importorskip("torch", reason="needs the extra `surprise`")

LARGE = st.integers(0, 260_000)


def published(row: list[int], k: int, h: int) -> list[bool]:
    """The published rule for one row, in torch's own arithmetic."""
    table = torch.rand(TABLE_SIZE, generator=torch.Generator("cpu").manual_seed(TABLE_SEED))
    dropped = [False] * min(len(row), h - 1)
    if len(row) >= h:
        keys = torch.tensor(row, dtype=torch.int64).unfold(0, h, 1).prod(dim=-1) % TABLE_SIZE
        dropped += (table[keys] < 1 / k).tolist()
    return dropped


def test_the_table_is_that_of_the_published_generator_and_seed() -> None:
    assert (TABLE_SIZE, TABLE_SEED) == (1_000_003, 2971215073)
    drawn = torch.rand(1_000_003, generator=torch.Generator("cpu").manual_seed(2971215073))
    assert hash_table().tolist()[:8] == drawn.tolist()[:8]
    assert np.array_equal(hash_table(), drawn.numpy())


@given(
    rows=st.lists(st.lists(LARGE, max_size=40), min_size=1, max_size=3), k=st.integers(2, 5), h=st.sampled_from([4, 13])
)
@settings(max_examples=25, deadline=None)
def test_ids_are_dropped_as_torch_drops_them_also_where_products_wrap(rows: list[list[int]], k: int, h: int) -> None:
    ids = np.array([number for row in rows for number in row], dtype=np.int64)
    expected = [flag for row in rows for flag in published(row, k, h)]
    assert dropped_ids(ids, offsets_of([len(row) for row in rows]), k, h).tolist() == expected


def test_products_of_thirteen_large_ids_do_wrap() -> None:
    assert 200_000**13 > 2**63
    row = list(range(200_000, 200_060))
    assert dropped_ids(np.array(row), np.array([0, 60]), 3, 13).tolist() == published(row, 3, 13)


@pytest.mark.parametrize("h", [4, 13])
def test_the_reference_drops_one_in_k_and_decides_alike_for_like_ids(h: Literal[4, 13]) -> None:
    ids = np.random.default_rng(0).integers(1, 150_000, size=30_000)
    twice = np.concatenate([ids, ids])
    dropped = dropped_ids(twice, np.array([0, ids.size, twice.size]), 4, h)
    assert abs(dropped.mean() - 0.25) < 0.02
    assert np.array_equal(dropped[: ids.size], dropped[ids.size :])


def test_the_predicted_token_is_part_of_the_key() -> None:
    ids = np.arange(1, 3000)
    other = ids.copy()
    other[1500] += 100_000
    changed = np.flatnonzero(
        dropped_ids(ids, np.array([0, ids.size]), 2, 4) != dropped_ids(other, np.array([0, ids.size]), 2, 4)
    )
    assert changed.size > 0
    assert set(changed.tolist()) <= {1500, 1501, 1502, 1503}


def words(text: str) -> list[str]:
    return [text[i : i + 3] for i in range(0, len(text), 3)]


def test_the_paper_mode_hashes_the_normalised_text_before_each_token() -> None:
    text = "The quick\u00a0 brown fox, na\u00efve as ever, jumps\n\n over twelve \ufb01ne dogs; and sleeps. " * 3
    rows = words(text)
    expected = []
    for token in range(len(rows)):
        before = " ".join(unicodedata.normalize("NFKC", "".join(rows[:token])).split())[-20:]
        number = int.from_bytes(hashlib.blake2b(before.encode(), digest_size=8).digest(), "big")
        expected.append(token >= 3 and number * 3 < 2**64)
    assert dropped_contexts(tokens_of([rows]), [text], 3, 20).tolist() == expected
    assert 0.15 < np.mean(expected) < 0.55


def test_soft_hyphens_spaces_and_composition_before_a_token_change_nothing() -> None:
    plain = "caf\u00e9 society and its dis\u00adcontents, part ".replace("\u00ad", "")
    strange = "cafe\u0301\u00a0society \t and\r\nits dis\u00adcon\u00adtents,\u2003part  "
    tails = [f"{number:x} " for number in range(200)]
    masks = [dropped_contexts(tokens_of([[head, *tails]]), [head + "".join(tails)], 2, 52) for head in (plain, strange)]
    assert np.array_equal(masks[0], masks[1])
    assert masks[0].any()


def test_a_long_run_of_space_does_not_shorten_the_context() -> None:
    heads = ["one two three four five six seven" + " " * size + "eight " for size in (1, 700)]
    tails = [f"{number:x}" for number in range(100)]
    masks = [dropped_contexts(tokens_of([[head, *tails]]), [head + "".join(tails)], 2, 30) for head in heads]
    assert np.array_equal(masks[0], masks[1])


def test_a_passage_decides_alike_wherever_it_recurs() -> None:
    passage = words("a passage of some length that is found again in another place of another text, word for word")
    rows = [["zzz"] * 9 + passage, ["y"] * 40 + passage]
    dropped = dropped_contexts(tokens_of(rows), ["".join(row) for row in rows], 2, 10)
    inside = 4  # tokens after which the context of ten characters lies within the passage
    assert dropped[9 + inside : 9 + len(passage)].tolist() == dropped[-len(passage) + inside :].tolist()
    assert dropped[9 + inside : 9 + len(passage)].any()


@pytest.mark.parametrize("k", [2, 3, 10])
def test_the_first_k_tokens_are_kept_and_one_in_k_of_the_rest_is_dropped(k: int) -> None:
    rng = np.random.default_rng(k)
    rows = [[f"{number:x}." for number in rng.integers(0, 2**30, size=20)] for _ in range(400)]
    texts = ["".join(row) for row in rows]
    dropped = dropped_contexts(tokens_of(rows), texts, k, 52).reshape(400, 20)
    assert not dropped[:, :k].any()
    assert abs(dropped[:, k:].mean() - 1 / k) < 4 * np.sqrt((1 / k) * (1 - 1 / k) / dropped[:, k:].size)


def test_normalising_takes_soft_hyphens_out_and_spaces_together() -> None:
    assert normalise(" A\u00adB\u00a0\u2003 c\n\u0041\u030a ﬁ ") == "AB c \u00c5 fi"


def test_both_modes_mask_supervised_tokens_only() -> None:
    rows = [[f"{number} " for number in range(60)]]
    ids = [list(range(1000, 1060))]
    whole, part = material_of(rows, ids=ids), material_of(rows, ids=ids, supervised=[[(40, 100)]])
    inside = part.scored("t").supervised
    for method in (GoldfishPaper(k=2), GoldfishReference(k=2, h=4)):
        everywhere = is_masked(method.levels(whole).levels)
        assert np.array_equal(is_masked(method.levels(part).levels), everywhere & inside)
        assert everywhere.any()


def test_k_below_two_is_refused() -> None:
    for method in (GoldfishPaper, GoldfishReference):
        with pytest.raises(ValueError, match="k = 1"):
            method(k=1)
