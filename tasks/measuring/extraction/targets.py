"""The private values that an attack is after, as the tokens a model has seen them in."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from transformers import PreTrainedTokenizerBase

Regime = Literal["fine_tuning", "pretraining"]
Tokenization = Literal["context", "alone"]

_BATCH = 256  # texts made into tokens at once


class TargetUnusable(ValueError):
    """A value cannot be attacked. The message names its id, never the value."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place in the training data that holds a value.

    Attributes:
        text: what the trainer turned into tokens at once: a document, or the content of one answer.
        start: of the value in ``text``, in characters.
        end: just behind it.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Target:
    """A private value.

    Attributes:
        id: different for each; the random numbers of its attack depend on it.
        kind: by which figures are split.
        value: itself.
        occurrences: where it stands in the training data; needed only to read its tokens there.
    """

    id: str
    kind: str
    value: str
    occurrences: tuple[Occurrence, ...] = ()


@dataclass(frozen=True, slots=True)
class Split:
    """A value's tokens, cut in two (SM B.1).

    Attributes:
        revealed: the tokens that the attacker gets; none for a value of one token.
        hidden: those it must find, one at least.
        share: of the occurrences, those that have just these tokens; None for a value on its own.
    """

    revealed: tuple[int, ...]
    hidden: tuple[int, ...]
    share: float | None


def revealed_tokens(length: int, regime: Regime) -> int:
    """Return how many of a value's ``length`` tokens the attacker is given.

        min(L - 1, max(1, floor(0.75 L)))      fine-tuning; pretraining rounds up

    Raises:
        ValueError: there are no tokens.
    """
    if length < 1:
        raise ValueError(f"a value of {length} tokens has nothing to reveal or to hide")
    share = 3 * length // 4 if regime == "fine_tuning" else -(-3 * length // 4)
    return min(length - 1, max(1, share))


def split_all(
    targets: Sequence[Target], tokenizer: PreTrainedTokenizerBase, regime: Regime, tokenization: Tokenization
) -> list[Split]:
    """Turn values into tokens, and cut each in what is revealed and what is hidden.

    In ``context`` they are the tokens that share a character with the value where it was trained on: a quote before it
    may be part of its first one. Where occurrences differ, the tokens that most of them have are taken. ``alone`` takes
    the value by itself, as SM B.1 reads.

    Args:
        targets: the values.
        tokenizer: a fast one.
        regime: decides how the prefix is rounded.
        tokenization: where the tokens come from.

    Raises:
        TargetUnusable: a value is empty, has no occurrence, or does not stand where an occurrence says.
    """
    _check(targets, tokenization)
    found: Sequence[tuple[tuple[int, ...], float | None]]
    if tokenization == "alone":
        found = [(_plain(tokenizer, target), None) for target in targets]
    else:
        found = _in_context(targets, tokenizer)
    return [_cut(target, ids, share, regime) for target, (ids, share) in zip(targets, found, strict=True)]


def _check(targets: Sequence[Target], tokenization: Tokenization) -> None:
    ids = Counter(target.id for target in targets)
    for target in targets:
        if ids[target.id] > 1:
            raise TargetUnusable(f"{target.id}: {ids[target.id]} values have this id: give each its own")
        if not target.value:
            raise TargetUnusable(f"{target.id}: the value is empty: it is part of every text, and nothing to extract")
        if tokenization == "context" and not target.occurrences:
            raise TargetUnusable(
                f"{target.id}: it has no occurrence in the training data: give one, or take the value's tokens alone"
            )
        for number, each in enumerate(target.occurrences):
            if each.text[each.start : each.end] != target.value:
                raise TargetUnusable(
                    f"{target.id}: occurrence {number} holds something else at characters {each.start} to {each.end}:"
                    " count characters of the text as it is trained on"
                )


def _plain(tokenizer: PreTrainedTokenizerBase, target: Target) -> tuple[int, ...]:
    ids: list[int] = tokenizer(target.value, add_special_tokens=False)["input_ids"]
    return tuple(ids)


def _in_context(
    targets: Sequence[Target], tokenizer: PreTrainedTokenizerBase
) -> list[tuple[tuple[int, ...], float | None]]:
    places = [(row, each) for row, target in enumerate(targets) for each in target.occurrences]
    seen: list[Counter[tuple[int, ...]]] = [Counter() for _ in targets]
    for start in range(0, len(places), _BATCH):
        part = places[start : start + _BATCH]
        encoded = tokenizer([each.text for _, each in part], add_special_tokens=False, return_offsets_mapping=True)
        for (row, each), ids, offsets in zip(part, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            seen[row][_overlapping(ids, offsets, each)] += 1
    chosen: list[tuple[tuple[int, ...], float | None]] = []
    for counted in seen:
        ids, many = min(counted.items(), key=lambda item: (-item[1], item[0]))
        chosen.append((ids, many / counted.total()))
    return chosen


def _overlapping(ids: Sequence[int], offsets: Sequence[tuple[int, int]], place: Occurrence) -> tuple[int, ...]:
    """Return the tokens from the first to the last that shares a character with the value.

    What lies between counts with them: byte tokens may report that they cover no character.
    """
    inside = [number for number, (start, end) in enumerate(offsets) if max(start, place.start) < min(end, place.end)]
    return tuple(ids[inside[0] : inside[-1] + 1]) if inside else ()


def _cut(target: Target, ids: tuple[int, ...], share: float | None, regime: Regime) -> Split:
    if not ids:
        raise TargetUnusable(f"{target.id}: the tokenizer has no token for it: normalization drops it")
    revealed = revealed_tokens(len(ids), regime)
    return Split(ids[:revealed], ids[revealed:], share)
