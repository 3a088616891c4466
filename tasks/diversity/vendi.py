"""Vendi score of a pool with one candidate more: exact, from one decomposition of the pool (PV section 2.1.3)."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32] | npt.NDArray[np.float64]

# Normalising in float32 leaves 1e-6 and a float16 store some 1e-5; what is further from 1 was never normalised.
UNIT_TOLERANCE = 1e-4

# Trapezoid nodes of the integral over s = e^u. The integrand is analytic for |Im u| < pi, so h = 0.45 errs by
# exp(-2 pi^2 / h) = 1e-19, and what lies outside [-42, 44] adds less than 1e-15.
_U = np.linspace(-42.0, 44.0, 192)
_SMALL_S = np.exp(_U[_U < 0.0])
_LARGE_S = np.exp(_U[_U >= 0.0])
_H = float(_U[1] - _U[0])


def unit_rows(vectors: Vectors, *, what: str) -> F64:
    """Check that every row is a unit vector and renormalise it in float64.

    Args:
        vectors: embeddings of norm 1 within ``UNIT_TOLERANCE``, shape (n, d); n may be 0.
        what: what a row is called in an error.

    Raises:
        ValueError: not a matrix, or a row is zero, not finite or not of norm 1; the message names the first such row.
    """
    if vectors.ndim != 2:
        raise ValueError(f"{what}: shape {vectors.shape}, but vectors are the rows of a matrix (n, d)")
    rows: F64 = np.asarray(vectors, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow gives inf, and inf is refused below
        norms: F64 = np.linalg.norm(rows, axis=1)
    bad = np.flatnonzero(~(np.abs(norms - 1.0) <= UNIT_TOLERANCE))  # true of NaN as well
    if bad.size:
        row = int(bad[0])
        raise ValueError(
            f"{what} {row}: norm {norms[row]:.6g}, but a unit vector is needed"
            f" (within {UNIT_TOLERANCE:g}): normalise it, or embed its text again"
        )
    return rows / norms[:, None]


@dataclass(frozen=True, eq=False)
class Pool:
    """A pool P of n unit vectors, decomposed once and shared by all drafts of a record.

    The non-zero part of the spectrum of its Gram matrix K = X Xᵀ, r <= min(n, d) pairs in ascending order:
    K has the eigenvalues ``mu``, and XᵀX the same ones with ``directions`` as eigenvectors.
    """

    size: int  # n
    mu: F64 = field(repr=False)  # (r,)
    directions: F64 = field(repr=False)  # (d, r), orthonormal columns
    kernel: F64 = field(repr=False)  # (r, nodes): 1 / (mu + s) where s < 1, mu / (mu + s) where s >= 1

    @classmethod
    def prepare(cls, unit_vectors: Vectors) -> Self:
        """Decompose the smaller of the Gram matrix (n, n) and the covariance (d, d).

        Args:
            unit_vectors: shape (n, d), norm 1 within ``UNIT_TOLERANCE``; n = 0 is the empty pool.

        Raises:
            ValueError: a row is not a unit vector; the message names it.
        """
        rows = unit_rows(unit_vectors, what="pool row")
        n, d = rows.shape
        mu, vectors = np.linalg.eigh(rows @ rows.T if n <= d else rows.T @ rows)
        # Below this, an eigenvalue is rounding: the candidate's part there counts as outside the pool's span.
        kept = mu > n * np.finfo(np.float64).eps * mu.max(initial=0.0)
        mu, vectors = mu[kept], vectors[:, kept]
        directions = rows.T @ (vectors / np.sqrt(mu)) if n <= d else vectors
        column = mu[:, None]
        kernel = np.hstack([1.0 / (column + _SMALL_S), column / (column + _LARGE_S)])
        return cls(n, mu, directions, kernel)

    def score(self) -> float:
        """VS(P), the exponential of the entropy of the eigenvalues of K / n; 1 (the empty sum) for the empty pool."""
        return float(_vendi(self.mu @ np.log(self.mu), self.size)) if self.size else 1.0

    def score_with(self, x: Vectors) -> float:
        """VS(P ∪ {x}) of one unit vector, shape (d,); as ``score_with_many``."""
        return float(self.score_with_many(x[None])[0])

    def score_with_many(self, candidates: Vectors) -> F64:
        """VS(P ∪ {x}) for each row x on its own.

            q(s)      = xᵀ C (C + s)⁻¹ x / (1 + s)  with C = XᵀX
            Delta(x)  = - integral over s from 0 to infinity of log(1 - q(s)) ds
            VS(P ∪ x) = (n + 1) exp(-[sum mu log mu + Delta(x)] / (n + 1))

        Args:
            candidates: shape (m, d), norm 1 within ``UNIT_TOLERANCE``.

        Returns:
            Scores of shape (m,), between 1 and n + 1; all 1 for the empty pool.

        Raises:
            ValueError: a row is not a unit vector, or of another dimension than the pool's.
        """
        rows = unit_rows(candidates, what="candidate row")
        if self.size == 0:
            return np.ones(len(rows))
        if rows.shape[1] != len(self.directions):
            raise ValueError(f"candidates have {rows.shape[1]} dimensions, the pool {len(self.directions)}")
        entropy = self.mu @ np.log(self.mu) + self._delta(rows)
        return _vendi(entropy, self.size + 1)

    def _delta(self, rows: F64) -> F64:
        """Delta(x) of each row, the change of sum mu log mu that adding x makes; shape (m,)."""
        shares, outside = _split((rows @ self.directions) ** 2)
        sums = shares @ self.kernel
        small, large = sums[:, : _SMALL_S.size], sums[:, _SMALL_S.size :]
        # q may reach 1 where s < 1: 1 - q is put together from positive terms. Above, q <= 1/2 and log1p is exact.
        log_small = np.log((_SMALL_S * (1.0 + small) + outside[:, None]) / (1.0 + _SMALL_S))
        log_large = np.log1p(-large / (1.0 + _LARGE_S))
        integral: F64 = _H * (log_small @ _SMALL_S + log_large @ _LARGE_S)
        return -integral


def _split(squares: F64) -> tuple[F64, F64]:
    """Split the unit length of each candidate into the pool's directions, shape (m, r), and the rest, shape (m,).

    On the Gram side a direction of a tiny eigenvalue is known only to about sqrt(eps), and squares may add up to more
    than 1. The strong directions are right, so each takes its share first and the weak get what is left: without
    this, near-collinear pools are off by up to 6e-4.
    """
    used = np.minimum(np.cumsum(squares[:, ::-1], axis=1), 1.0)
    return np.diff(used, axis=1, prepend=0.0)[:, ::-1], 1.0 - used[:, -1]


def _vendi(sum_mu_log_mu: F64, n: int) -> F64:
    """The Vendi score of n items whose Gram matrix has eigenvalues mu: exp(-sum (mu/n) log(mu/n)), with sum mu = n."""
    return np.asarray(n * np.exp(-sum_mu_log_mu / n))
