import math
import warnings

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.diversity.vendi import Pool

F64 = npt.NDArray[np.float64]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from vendi_score import vendi


def unit(rows: F64) -> F64:
    norms: F64 = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / norms


def package_score(rows: F64) -> float:
    with warnings.catch_warnings():  # the package uses a name that SciPy has deprecated
        warnings.simplefilter("ignore", DeprecationWarning)
        return float(vendi.score_K(rows @ rows.T))


def assert_equals_the_package(pool: F64, candidates: F64, rtol: float = 1e-9) -> None:
    prepared = Pool.prepare(pool)
    expected = [package_score(np.vstack([pool, x])) for x in candidates]
    np.testing.assert_allclose(prepared.score(), package_score(pool), rtol=rtol)
    np.testing.assert_allclose(prepared.score_with_many(candidates), expected, rtol=rtol)


def candidates_of(pool: F64, rng: np.random.Generator) -> F64:
    """Outside the pool's span, a member, nearly a member, inside the span, and along its weakest direction."""
    n, d = pool.shape
    weakest = np.linalg.svd(pool, full_matrices=False)[2][-1:]
    return unit(
        np.vstack(
            [
                rng.normal(size=(2, d)),
                pool[[0, n // 2]],
                unit(pool[:1] + 1e-7 * rng.normal(size=(1, d))),
                rng.normal(size=(2, n)) @ pool,
                weakest,
            ]
        )
    )


@pytest.mark.parametrize("n", [1, 2, 7, 47, 48, 49, 200])
def test_scores_equal_the_package_for_random_pools(n: int) -> None:
    rng = np.random.default_rng(n)
    pool = unit(rng.normal(size=(n, 48)))
    assert_equals_the_package(pool, candidates_of(pool, rng))


@pytest.mark.parametrize("n", [2, 20, 90])
def test_scores_equal_the_package_when_the_pool_holds_duplicates(n: int) -> None:
    rng = np.random.default_rng(n)
    distinct = unit(rng.normal(size=(n, 48)))
    pool = np.vstack([distinct, distinct[: n // 2], np.tile(distinct[:1], (3, 1))])
    assert_equals_the_package(pool, candidates_of(pool, rng))


def test_scores_equal_the_package_when_all_of_the_pool_is_one_vector() -> None:
    rng = np.random.default_rng(1)
    pool = np.tile(unit(rng.normal(size=(1, 48))), (30, 1))
    assert_equals_the_package(pool, candidates_of(pool, rng))
    assert Pool.prepare(pool).score() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 24, 40, 90])
@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-12])
def test_scores_equal_the_package_for_near_collinear_pools(n: int, spread: float) -> None:
    rng = np.random.default_rng(n)
    pool = unit(unit(rng.normal(size=(1, 48))) + spread * rng.normal(size=(n, 48)))
    assert_equals_the_package(pool, candidates_of(pool, rng))


@given(data=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_scores_equal_the_package_for_clusters_of_any_tightness(data: int) -> None:
    rng = np.random.default_rng(data)
    n, d = (int(size) for size in rng.integers(2, 40, size=2))
    centres = rng.normal(size=(int(rng.integers(1, 4)), d))
    noise = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-17, 0, size=d)
    pool = unit(centres[rng.integers(len(centres), size=n)] + noise)
    assert_equals_the_package(pool, candidates_of(pool, rng), rtol=1e-11)


def test_scores_equal_the_package_for_a_pool_of_2048() -> None:
    rng = np.random.default_rng(2)
    pool = unit(rng.normal(size=(2048, 64)) + 3.0 * rng.normal(size=(1, 64)))
    candidates = candidates_of(pool, rng)
    scores = Pool.prepare(pool).score_with_many(candidates)
    assert scores[0] == pytest.approx(package_score(np.vstack([pool, candidates[0]])), rel=1e-9)
    dual = [vendi.score_dual(np.vstack([pool, x]), normalize=False) for x in candidates]  # the same, by the small side
    np.testing.assert_allclose(scores, dual, rtol=1e-9)


def test_one_vector_scores_as_in_a_batch() -> None:
    rng = np.random.default_rng(3)
    pool, candidates = unit(rng.normal(size=(30, 16))), unit(rng.normal(size=(5, 16)))
    prepared = Pool.prepare(pool)
    alone = [prepared.score_with(x) for x in candidates]
    np.testing.assert_allclose(prepared.score_with_many(candidates), alone, rtol=1e-14)
    assert prepared.score_with_many(candidates[:0]).shape == (0,)


def test_one_direction_with_itself_is_one_item_and_with_an_orthogonal_one_two() -> None:
    prepared = Pool.prepare(np.array([[1.0, 0.0, 0.0]]))
    assert prepared.score() == pytest.approx(1.0, rel=1e-14)
    assert prepared.score_with(np.array([1.0, 0.0, 0.0])) == pytest.approx(1.0, rel=1e-13)
    assert prepared.score_with(np.array([0.0, 1.0, 0.0])) == pytest.approx(2.0, rel=1e-13)
    assert Pool.prepare(np.eye(3)[:2]).score_with(np.array([0.0, 0.0, 1.0])) == pytest.approx(3.0, rel=1e-13)


@given(log_angle=st.floats(-12, math.log10(math.pi / 2)))
@settings(max_examples=50, deadline=None)
def test_two_vectors_at_an_angle_have_the_entropy_of_one_plus_and_one_minus_its_cosine(log_angle: float) -> None:
    angle = 10.0**log_angle
    likely, unlikely = math.cos(angle / 2) ** 2, math.sin(angle / 2) ** 2  # (1 ± cos angle) / 2
    expected = math.exp(-likely * math.log(likely) - unlikely * math.log(unlikely))
    x = np.array([math.cos(angle), math.sin(angle)])
    assert Pool.prepare(np.array([[1.0, 0.0]])).score_with(x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3)])
def test_with_an_empty_pool_every_candidate_scores_one(shape: tuple[int, int]) -> None:
    prepared = Pool.prepare(np.empty(shape))
    assert prepared.score() == 1.0
    assert prepared.score_with(np.array([0.6, 0.8, 0.0])) == 1.0
    assert prepared.score_with_many(np.eye(3)).tolist() == [1.0, 1.0, 1.0]


def test_float32_embeddings_are_renormalised_and_scored_in_float64() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(61, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows *= 1 + 1e-6 * rng.choice([-1, 1], size=(61, 1)).astype(np.float32)
    exact = unit(rows.astype(np.float64))
    scores = Pool.prepare(rows[:60]).score_with_many(rows[[60, 0]])
    assert scores.dtype == np.float64
    expected = [package_score(np.vstack([exact[:60], x])) for x in exact[[60, 0]]]
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([0.0, 0.0], "norm 0"),
        ([math.nan, 1.0], "norm nan"),
        ([math.inf, 0.0], "norm inf"),
        ([1e200, 1e200], "norm inf"),
        ([1.0002, 0.0], "norm 1.0002"),
        ([0.9998, 0.0], "norm 0.9998"),
    ],
)
def test_a_row_that_is_no_unit_vector_is_refused_by_name(row: list[float], said: str) -> None:
    rows = np.array([[1.0, 0.0], [0.0, 1.0], row, row])
    with pytest.raises(ValueError, match=f"pool row 2: {said}"):
        Pool.prepare(rows)
    with pytest.raises(ValueError, match=f"candidate row 2: {said}"):
        Pool.prepare(np.eye(2)).score_with_many(rows)
    with pytest.raises(ValueError, match=f"candidate row 0: {said}"):
        Pool.prepare(np.empty((0, 2))).score_with(np.array(row))


def test_vectors_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="candidates have 3 dimensions, the pool 2"):
        Pool.prepare(np.eye(2)).score_with(np.array([1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match=r"pool row: shape \(2,\)"):
        Pool.prepare(np.array([1.0, 0.0]))
