"""What a request asks to keep (PV section 3.1, step 4): the attributes least like anything that is hidden.

Attributes like a target tend to overlap with it, and then to hide the one is to lose the other (PV Appendix B).
"""

from collections.abc import Iterable, Sequence

from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]

from tasks.diversity.words import words
from tasks.sanitization.source import Source
from tasks.sanitization.targets import Target, in_words
from tasks.synthesis.attributes import Attribute
from tasks.synthesis.grounding import Folded


class _Words:
    """Cuts texts for ROUGE as the rest of the factory does: its own tokenizer knows a to z only."""

    def tokenize(self, text: str) -> list[str]:
        """Cut ``text`` into folded words."""
        return [word.casefold() for word in words(text)]


_ROUGE = RougeScorer(["rougeL"], tokenizer=_Words())


def rouge_l(one: str, other: str) -> float:
    """Return the F1 of the longest common subsequence of words, 0 to 1."""
    return float(_ROUGE.score(one, other)["rougeL"].fmeasure)


def overlap(attribute: Attribute, targets: Iterable[Target]) -> float:
    """Return the likeness of an attribute to what is hidden: the largest ROUGE-L of ``key value``, 0 to 1."""
    said = _said(attribute)
    return max((rouge_l(said, _said(hidden)) for target in targets for hidden in target.attributes), default=0.0)


def _said(attribute: Attribute) -> str:
    return f"{in_words(attribute.key)} {attribute.value}"


def choose_retained(source: Source, targets: Sequence[Target], sanitized: str, most: int) -> tuple[Attribute, ...]:
    """Choose up to ``most`` attributes to keep, those least like the targets first, in that order.

    None has a value that stands in a target's or has one in it, shares a place of the text with it or is called the
    same; and each still stands in ``sanitized``: the request must not ask for what its own answer does not do. There
    may be none left.
    """
    hidden = [attribute for target in targets for attribute in target.attributes]
    kept = Folded(sanitized)
    free = [
        attribute
        for attribute in source.attributes
        if kept.find(attribute.value) and not any(_entangled(attribute, other) for other in hidden)
    ]
    distinct = {attribute.value.casefold(): attribute for attribute in reversed(free)}.values()
    order = {attribute.key: place for place, attribute in enumerate(source.attributes)}
    ranked = sorted(distinct, key=lambda attribute: (overlap(attribute, targets), order[attribute.key]))
    return tuple(ranked[:most])


def _entangled(one: Attribute, other: Attribute) -> bool:
    if in_words(one.key) == in_words(other.key) or any(a < d and c < b for a, b in one.spans for c, d in other.spans):
        return True
    first, second = one.value.casefold(), other.value.casefold()
    return first in second or second in first
