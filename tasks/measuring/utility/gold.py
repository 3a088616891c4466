"""How likely a model finds the gold answers: mean NLL of the tokens that are to be learnt (SM B.2)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from tasks.training.examples import IGNORED, Example


@dataclass(frozen=True, slots=True)
class GoldNll:
    """One gold answer of a task.

    Attributes:
        id: of the example.
        tokens: how many of its tokens count.
        nll: their negative log-likelihood, summed, in nats.
    """

    id: str
    tokens: int
    nll: float


@dataclass(frozen=True, slots=True)
class GoldResult:
    """NLL over a set of gold answers.

        NLL(y | c) = -1/|y| sum_i log p(y_i | c, y_<i)

    Attributes:
        answers: how many.
        tokens: of all of them.
        mean_nll: mean over answers of NLL(y | c), in nats a token: the paper's figure.
        pooled_nll: sum over all tokens by their number: long answers count for more.
        perplexity: exp(mean_nll).
        standard_error: of ``mean_nll``, over answers; None for a single one.
    """

    answers: int
    tokens: int
    mean_nll: float
    pooled_nll: float
    perplexity: float
    standard_error: float | None


@torch.inference_mode()
def gold_nll(lm: Any, examples: Sequence[Example], rows: int = 16) -> list[GoldNll]:  # noqa: ANN401
    """Return the NLL of each example's learnt tokens, each weighing the same, in order.

    Args:
        lm: a causal language model of transformers, in evaluation mode.
        examples: with a label at each token that counts.
        rows: read at once.
    """
    order = sorted(range(len(examples)), key=lambda place: examples[place].ids.size)
    found: dict[int, GoldNll] = {}
    for start in range(0, len(order), rows):
        places = order[start : start + rows]
        found.update(zip(places, _batch(lm, [examples[place] for place in places]), strict=True))
    return [found[place] for place in range(len(examples))]


def _batch(lm: Any, examples: Sequence[Example]) -> list[GoldNll]:  # noqa: ANN401
    device = next(lm.parameters()).device
    longest = max(example.ids.size for example in examples)
    ids_BT = torch.zeros((len(examples), longest), dtype=torch.long)
    labels_BT = torch.full((len(examples), longest), IGNORED)
    for row, example in enumerate(examples):  # padded on the right: nothing attends to what comes later
        ids_BT[row, : example.ids.size] = torch.from_numpy(example.ids)
        labels_BT[row, : example.ids.size] = torch.from_numpy(example.labels)
    logits_BTV = lm(input_ids=ids_BT.to(device), use_cache=False).logits
    labels_BT = labels_BT.to(device)
    sums = []
    for row, example in enumerate(examples):  # row by row: float32 logits of one text, not of all
        nll_T = cross_entropy(logits_BTV[row, :-1].float(), labels_BT[row, 1:], ignore_index=IGNORED, reduction="none")
        counted = int((example.labels[1:] != IGNORED).sum())
        sums.append(GoldNll(example.id, counted, float(nll_T.double().sum())))
    return sums


def gold_result(answers: Sequence[GoldNll]) -> GoldResult:
    """Average over gold answers.

    Raises:
        ValueError: there are none, one has no token that counts, or an NLL is no number.
    """
    if not answers:
        raise ValueError("no gold answers: nothing to average")
    for each in answers:
        if each.tokens == 0 or not math.isfinite(each.nll):
            raise ValueError(f"{each.id}: NLL {each.nll} over {each.tokens} tokens: it cannot be averaged")
    means = [each.nll / each.tokens for each in answers]
    mean = sum(means) / len(means)
    spread = sum((each - mean) ** 2 for each in means)
    tokens = sum(each.tokens for each in answers)
    return GoldResult(
        answers=len(answers),
        tokens=tokens,
        mean_nll=mean,
        pooled_nll=sum(each.nll for each in answers) / tokens,
        perplexity=math.exp(mean),
        standard_error=math.sqrt(spread / (len(means) - 1) / len(means)) if len(means) > 1 else None,
    )
