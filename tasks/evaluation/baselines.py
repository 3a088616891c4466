"""Sanitizers that ask no model: the pipeline's own text, and texts that show what the figures mean."""

from collections.abc import Iterable, Mapping
from typing import Literal

from tasks.evaluation.case import Case

Baseline = Literal["triplets", "untouched", "empty", "masked"]
BASELINES: Mapping[Baseline, str] = {
    "triplets": "what the decomposition pipeline made: the triplets' own texts",
    "untouched": "the original: leaks everything, keeps everything",
    "empty": "nothing at all: leaks nothing directly, keeps nothing",
    "masked": "every annotated attribute value masked, asked for or not",
}
MASK = "█████"  # one length for all: the number of letters would tell


def baseline_text(kind: Baseline, case: Case) -> str:
    """Return what the baseline ``kind`` makes of a case."""
    match kind:
        case "triplets":
            return case.by_pipeline
        case "untouched":
            return case.text
        case "empty":
            return ""
        case "masked":
            return masked(case)


def masked(case: Case) -> str:
    """Put ``MASK`` in the place of every stretch of the text that attributes cover."""
    return mask_spans(case.text, (span for attribute in case.attributes for span in attribute.spans))


def mask_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Put ``MASK`` in the place of spans, half-open in code points, in any order; those that overlap share one."""
    parts, done = list[str](), 0
    for start, stop in sorted(spans):
        if start >= done:
            parts += [text[done:start], MASK]
        done = max(done, stop)
    return "".join([*parts, text[done:]])
