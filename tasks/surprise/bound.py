"""How likely a span must be, under the reference model, to stay wholly unmasked (SM appendix G)."""

import math
from dataclasses import dataclass

from tasks.surprise.procedure import FixedWindows, MeanScore, Procedure
from tasks.surprise.rules import GlobalRule


class NoBound(ValueError):
    """The bound does not hold for this procedure, and is not stated."""


@dataclass(frozen=True)
class Bound:
    """What follows for a span of m tokens that Global Surprise Masking leaves wholly unmasked."""

    span_tokens: int
    log_probability: float  # at least this, natural logarithm

    @property
    def probability(self) -> float:
        """The least p_M(span | prefix); 0.0 where it is too small for a float."""
        return math.exp(self.log_probability)

    @property
    def expected_samples(self) -> float:
        """The most samples expected until one equals the span; inf where that is too large for a float."""
        try:
            return math.exp(-self.log_probability)
        except OverflowError:
            return math.inf


def generation_bound(procedure: Procedure, tau: float, span_tokens: int, *, unprompted: bool = True) -> Bound:
    """Bound the probability of a span that is left wholly unmasked at ``tau``.

        p_M(span | prefix) >= exp(-n tau ceil(m/n)),  expected samples <= exp(n tau ceil(m/n))   (SM App. G)

    It holds for windows of n tokens and a span of m >= n supervised tokens with finite scores, at temperature 1
    without truncation; propagation only adds to the mask and keeps it.

    Args:
        procedure: of the policy in question.
        tau: its threshold, in nats.
        span_tokens: m, tokens of the span under the reference tokenizer.
        unprompted: False where the scores were taken under a prompt or are a contrast of two.

    Raises:
        NoBound: the procedure is not Global with fixed windows, mean NLL and no consensus, or the scores are not plain
            NLL.
        ValueError: the span is shorter than a window, or ``tau`` is not positive and finite.
    """
    windows = procedure.windows
    if not isinstance(windows, FixedWindows):
        raise NoBound(f"the bound is for windows of a fixed width, not for {windows.kind}: no bound is stated")
    failing = [
        reason
        for reason, fails in (
            (f"the rule is {procedure.rule.kind}, not global", not isinstance(procedure.rule, GlobalRule)),
            (f"the score is {procedure.score.kind}, not mean NLL", not isinstance(procedure.score, MeanScore)),
            (f"a consensus of {procedure.consensus} windows is asked for", procedure.consensus != 1),
            ("the scores are not plain NLL but prompted or a contrast", not unprompted),
        )
        if fails
    ]
    if failing:
        raise NoBound(f"no bound is stated: {'; '.join(failing)} (SM App. G covers Global without consensus only)")
    if not 0.0 < tau < math.inf:
        raise ValueError(f"tau {tau}: the bound needs a positive finite threshold; at 0 every scored token is masked")
    if span_tokens < windows.width:
        raise ValueError(f"a span of {span_tokens} tokens holds no window of {windows.width}: nothing is known of it")
    return Bound(span_tokens, -windows.width * tau * math.ceil(span_tokens / windows.width))
