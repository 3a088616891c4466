"""Labels for benchmarks that give values but no spans: where a value stands in the text word for word."""

import re
from collections.abc import Iterable

from tasks.surprise.documents import Label


def occurrences(text: str, values: Iterable[tuple[str, str]]) -> tuple[Label, ...]:
    """Label each whole-word occurrence of each (category, value), whatever its case and white space.

    What is only alluded to or written another way is not found: such labels are some of the private spans.

    Raises:
        ValueError: a value is empty, which would be everywhere.
    """
    labels = []
    for category, value in values:
        words = value.split()
        if not words:
            raise ValueError(f"{category}: an empty value")
        pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
        labels += [Label(*match.span(), category) for match in re.finditer(pattern, text, re.IGNORECASE)]
    return tuple(sorted(labels, key=lambda label: (label.start, label.end)))
