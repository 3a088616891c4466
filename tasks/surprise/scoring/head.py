"""From hidden states to NLLs, by chunks of tokens and vocabulary: the whole logits never exist."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from tasks.surprise.scoring.linear import Product, product


@dataclass(frozen=True, slots=True)
class Chunks:
    """How large a piece of the logits exists at once: tokens x vocabulary, float32."""

    tokens: int
    vocabulary: int


CPU_CHUNKS = Chunks(tokens=512, vocabulary=2048)  # 4 MiB: it stays in the cache between product, exponent and sum
GPU_CHUNKS = Chunks(tokens=4096, vocabulary=16384)  # 256 MiB: few kernels, each large


class Head:
    """A language model's output layer and softmax, for the tokens that did come.

        logit_v = f(W_v h + b_v)
        nll     = log sum over v of exp(logit_v) - logit_target

    The sum runs over vocabulary chunks: log(e^a + e^b) of what was and of what comes, in float32.

    Args:
        weight: W, shape (V, d).
        bias: b, shape (V,), or None.
        chunks: of the logits.
        pack: see ``linear.product``.
        adjust: f, in place: a scale or soft cap that the model puts on its logits; None for none.
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        chunks: Chunks,
        *,
        pack: bool = True,
        adjust: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> None:
        self._tokens = chunks.tokens
        self._adjust = adjust
        biases = [None] * -(-weight.shape[0] // chunks.vocabulary) if bias is None else bias.split(chunks.vocabulary)
        self._parts: list[tuple[int, int, Product]] = []  # first word, words, their product with hidden states
        for rows, bias_of in zip(weight.split(chunks.vocabulary), biases, strict=True):
            first = self._parts[-1][0] + self._parts[-1][1] if self._parts else 0
            self._parts.append((first, rows.shape[0], product(rows, bias_of, pack=pack)))

    def nll(self, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """NLL of each target.

        Args:
            hidden: what the model made of the tokens before each target, shape (n, d).
            targets: token ids, shape (n,).

        Returns:
            Nats, float32, shape (n,).
        """
        pairs = zip(hidden.split(self._tokens), targets.split(self._tokens), strict=True)
        return torch.cat([self._chunk(states, ids) for states, ids in pairs])

    def _chunk(self, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        total = hidden.new_full((hidden.shape[0],), -torch.inf, dtype=torch.float32)
        target_logit = torch.zeros_like(total)
        for first, words, part in self._parts:
            logits = part(hidden)  # (n, words)
            if self._adjust is not None:
                logits = self._adjust(logits)
            place = targets - first
            here = (place >= 0) & (place < words)
            found = logits.gather(1, place.clamp(0, words - 1)[:, None])[:, 0]
            target_logit = torch.where(here, found, target_logit)
            total = torch.logaddexp(total, _logsumexp_in_place(logits))
        return total - target_logit


def _logsumexp_in_place(logits: torch.Tensor) -> torch.Tensor:
    """Spoil ``logits`` instead of taking as much memory again."""
    most = logits.amax(dim=1)
    return logits.sub_(most[:, None]).exp_().sum(dim=1).log_().add_(most)
