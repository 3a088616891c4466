"""A few masked spans with their surroundings, for a person to judge a mask by. They hold private text."""

from collections.abc import Sequence

from tasks.report.marks import visible

CONTEXT = 60  # characters on each side
OPENS, CLOSES = "⟦", "⟧"


def excerpt(text: str, spans: Sequence[tuple[int, int]], place: int) -> str:
    """Show one span of a document in its surroundings, all spans in sight bracketed; one line."""
    start, end = max(0, spans[place][0] - CONTEXT), min(len(text), spans[place][1] + CONTEXT)
    pieces, done = ["…" if start else ""], start
    for first, last in spans:
        if last <= start or first >= end:
            continue
        first, last = max(first, start), min(last, end)
        pieces += [text[done:first], OPENS, text[first:last], CLOSES]
        done = last
    pieces += [text[done:end], "…" if end < len(text) else ""]
    return visible("".join(pieces)).replace("\n", "⏎").replace("\t", "→")
