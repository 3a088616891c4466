"""The loss: negative log-likelihood of the tokens to be learnt, each with its weight."""

import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from tasks.training.engine import Engine
from tasks.training.packing import Batch


def weighted_nll(model: PreTrainedModel | Engine, batch: Batch) -> torch.Tensor:
    """Return the weighted sum of the NLLs of a batch, in nats, a scalar of float32.

        sum over k of w[k] * -log p(label[k] | the tokens before it in its own example)

    Logits are made for the K places that predict something, not for all T.
    """
    logits: torch.Tensor = model(
        input_ids=batch.ids,
        position_ids=batch.packing.positions(),
        packing=batch.packing,
        logits_to_keep=batch.places,
        use_cache=False,
    ).logits[0]
    nll = cross_entropy(logits.float(), batch.labels, reduction="none")
    return (nll * batch.loss_weight).sum()
