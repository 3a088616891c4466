"""Methods that choose tokens by a loss alone: Selective Token Masking and Rho-1."""

import math
from dataclasses import dataclass

import numpy as np

from tasks.surprise.baselines.methods import Material, TokenLevels, fixed_levels
from tasks.surprise.rows import Bool, Scores, check_sizes


@dataclass(frozen=True)
class SelectiveTokenMasking:
    """STM (Wu et al., 2025): mask tokens whose reference perplexity is above a limit, 2.5 in that paper.

        m_j = 1  iff  exp(nll_j) > P, that is nll_j > ln P

    Surprise Masking with windows of one token and tau = ln P, but for ties: STM keeps a token at the limit itself,
    Surprise Masking masks one at tau. Tokens without a finite score are kept.
    """

    perplexity: float = 2.5
    name: str = "STM"

    def __post_init__(self) -> None:
        if not 1.0 <= self.perplexity < math.inf:
            raise ValueError(f"a perplexity of {self.perplexity}: it is at least 1, and finite")

    @property
    def rule(self) -> None:
        """None: the limit is set."""
        return None

    def levels(self, material: Material) -> TokenLevels:
        """Mark the tokens above the limit."""
        batch = material.scored(self.name)
        nll = batch.scores.astype(np.float64)
        masked = (nll > math.log(self.perplexity)) & np.isfinite(nll) & batch.supervised
        return TokenLevels(batch.tokens, fixed_levels(masked), material.lengths)


@dataclass(frozen=True)
class Rho1:
    """Rho-1 (Lin et al., 2024): train on the tokens of a batch with the highest excess loss, mask the rest.

    The batch is the material as a whole, so give the material of one training step, scored by the model as it is then.
    """

    keep: float = 0.6  # share of the tokens that are trained on
    name: str = "Rho-1"

    def __post_init__(self) -> None:
        if not 0.0 < self.keep <= 1.0:
            raise ValueError(f"a share of {self.keep} of the tokens to keep: it is above 0 and at most 1")

    @property
    def rule(self) -> None:
        """None: the share is set."""
        return None

    def levels(self, material: Material) -> TokenLevels:
        """Mark the supervised tokens of low excess loss.

        Raises:
            ValueError: there are no tokens, or no losses of the model that is trained.
        """
        batch = material.scored(self.name)
        if material.learner_scores is None:
            raise ValueError(f"{self.name} compares two models: give the losses of the one that is trained as well")
        kept = highest_excess(material.learner_scores, batch.scores, batch.supervised, self.keep)
        scored = np.isfinite(material.learner_scores) & np.isfinite(batch.scores)
        return TokenLevels(batch.tokens, fixed_levels(batch.supervised & scored & ~kept), material.lengths)


def highest_excess(learner: Scores, reference: Scores, supervised: Bool, keep: float) -> Bool:
    """Mark the tokens with the highest excess loss, ``learner - reference``.

    Of the n supervised tokens with both losses, ceil(keep * n) are marked; of equal ones the earlier.

    Args:
        learner: NLL under the model that is trained, in nats, shape (N,).
        reference: NLL under the reference model, shape (N,).
        supervised: shape (N,).
        keep: share to mark, above 0 and at most 1.

    Raises:
        ValueError: the sizes differ.
    """
    check_sizes("tokens", supervised.size, {"learner losses": learner.size, "reference losses": reference.size})
    ranked = np.flatnonzero(supervised & np.isfinite(learner) & np.isfinite(reference))
    excess = learner[ranked].astype(np.float64) - reference[ranked].astype(np.float64)
    marked = np.zeros(supervised.size, dtype=np.bool_)
    kept = math.ceil(keep * ranked.size - 1e-9)  # in binary 0.1 * 30 is above 3
    marked[ranked[np.argsort(-excess, kind="stable")[:kept]]] = True
    return marked
