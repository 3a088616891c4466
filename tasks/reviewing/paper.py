"""The paper's human evaluation, to be shown beside ours (PV section 2.2)."""

from dataclasses import dataclass

from tasks.measuring.proportions import Proportion
from tasks.reviewing.difference import Difference, difference


@dataclass(frozen=True, slots=True)
class PaperReview:
    """Records that were judged natural and coherent, and how many people judged.

    The paper does not say how it put the judgements of seven people together, nor what their agreement was.
    """

    reviewers: int
    synthetic: Proportion
    human: Proportion

    @property
    def difference(self) -> Difference:
        """Of the two shares; the paper gives none, this is ours of its counts."""
        return difference(self.synthetic, self.human)


PAPER = PaperReview(reviewers=7, synthetic=Proportion.counted(113, 128), human=Proportion.counted(111, 128))
