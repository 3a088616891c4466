"""What a reader should know before trusting the figures of a record set."""

from collections.abc import Iterator

from tasks.report.figures import Summary
from tasks.report.paper import PAPER

MOST_NEAR_COPIES = 0.05
LEAST_GROUNDED = 0.9
COMPARABLE_RECORDS = 500  # PV Table 9


def notices(summary: Summary) -> list[str]:
    """Return one sentence for each thing that is out of the ordinary, the gravest first."""
    return list(_notices(summary))


def _notices(summary: Summary) -> Iterator[str]:
    if not summary.records:
        yield "No record was kept: there is nothing to measure."
        return
    yield from _repetition(summary)
    kept = summary.kept_share
    if kept is not None and kept < PAPER.set.kept_share:
        yield f"{kept:.1%} of the rows became records; the paper kept about {PAPER.set.kept_share:.0%}."
    if summary.grounded_share is not None and summary.grounded_share < LEAST_GROUNDED:
        yield f"Only {summary.grounded_share:.1%} of the attributes have a value that stands in their record's text."
    unparsable = sum(step.unparsable for step in summary.refinement)
    if unparsable:
        offered = sum(step.offered for step in summary.refinement)
        yield f"{unparsable:,} of {offered:,} verdicts could not be read; each counted as “keep the current draft”."
    if summary.records < COMPARABLE_RECORDS:
        yield (
            f"A Vendi score grows with the number of records. The paper's are of {COMPARABLE_RECORDS} records where it"
            f" says so (Table 9), this set has {summary.records:,}: do not compare them."
        )


def _repetition(summary: Summary) -> Iterator[str]:
    repetition = summary.repetition
    if repetition.distinct_texts < summary.records:
        yield (
            f"Only {repetition.distinct_texts:,} of {summary.records:,} texts are different;"
            f" the most frequent one stands in {repetition.most_repeated:,} records."
        )
    if repetition.near_share is not None and repetition.near_share > MOST_NEAR_COPIES:
        yield (
            f"{repetition.near_share:.1%} of {repetition.vectors:,} records have a near copy"
            f" (cosine {repetition.near_cosine} or more) among them."
        )
