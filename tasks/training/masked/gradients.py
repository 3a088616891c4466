"""Two-part gradients: selected tokens count less than the others (SM App. E.1).

With g_S the gradient of the selected tokens and g_B that of the others, each loss divided by all supervised tokens:

    scale    g_B + 0.25 g_S
    clip     g_B + min(1, 0.25 |g_B| / max(|g_S|, 1e-12)) g_S

Norms are over all trained parameters together, of one micro-batch of one process: parts are put together before
micro-batches are added up.
"""

from collections.abc import Sequence

import torch

SHARE = 0.25
_LEAST = 1e-12


def scaled(others: torch.Tensor, selected: torch.Tensor) -> torch.Tensor:
    """Return the loss whose gradient is ``g_B + 0.25 g_S``."""
    return others + SHARE * selected


def clipped(
    others: torch.Tensor, selected: torch.Tensor, parameters: Sequence[torch.nn.Parameter]
) -> tuple[list[torch.Tensor], float]:
    """Return ``g_B + c g_S`` for each parameter, and c.

    ``torch.autograd.grad`` alone is called: no ``.grad`` is touched, and no hook on one runs.

    Args:
        others: loss of the tokens that are not selected, a scalar.
        selected: loss of the others, a scalar of the same graph.
        parameters: all that are trained.
    """
    g_b = torch.autograd.grad(others, parameters, retain_graph=True, allow_unused=True, materialize_grads=True)
    g_s = torch.autograd.grad(selected, parameters, allow_unused=True, materialize_grads=True)
    factor = min(1.0, SHARE * norm(g_b) / max(norm(g_s), _LEAST))
    return [b + factor * s for b, s in zip(g_b, g_s, strict=True)], factor


def norm(gradients: Sequence[torch.Tensor]) -> float:
    """Euclidean norm of all of them together, added up in float64."""
    squares = [torch.linalg.vector_norm(each.double()).square() for each in gradients]
    return float(torch.stack(squares).sum().sqrt())
