"""The tables of a review as text, once for the terminal, Markdown and the page."""

from collections.abc import Iterator
from dataclasses import dataclass

from tasks.measuring.proportions import Proportion
from tasks.report.formats import NOTHING, count, fixed, percent
from tasks.reviewing.difference import Difference
from tasks.reviewing.paper import PAPER
from tasks.reviewing.results import Answer, Question, Results

TITLES: dict[Question, str] = {"natural": "natural", "coherent": "coherent", "both": "natural and coherent"}
_SOURCES = ("Synthetic", "Human-written", "Difference")


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names the row; of the paper's rows there is the number."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    paper: int | None = None


def tables_of(results: Results) -> list[Table]:
    """Lay out all figures."""
    several = len(results.reviewers) > 1
    answers = [(TITLES[question], *_answer(answer)) for question, answer in results.answers.items()]
    both = results.answers["both"]
    if several:
        answers.append(
            ("… single judgements", _share(both.synthetic_judgements), _share(both.human_judgements), "", "")
        )
    paper = (
        f"paper, {PAPER.reviewers} reviewers",
        _interval(PAPER.synthetic),
        _interval(PAPER.human),
        *_difference(PAPER.difference),
    )
    found = [Table("Texts judged to be", ("", *_SOURCES, "p"), (*answers, paper), paper=len(answers))]
    reviewers = [
        (each.name, count(each.judged), _share(each.synthetic), _share(each.human), _difference(each.difference)[0])
        for each in results.reviewers
    ]
    found.append(Table("Natural and coherent, by reviewer", ("", "Judged", *_SOURCES), tuple(reviewers)))
    if several:
        found += [_agreement(results), _pairs(results)]
    if results.origins:
        origins = [
            (each.origin, "synthetic" if each.source == "synthetic" else "human-written", _interval(each.both))
            for each in results.origins
        ]
        found.append(Table("Natural and coherent, by where a text comes from", ("", "", "Texts"), tuple(origins)))
    lengths = [
        (each.of, *map(count, (each.texts, each.least, each.p25, each.median, each.p75, each.most)))
        for each in results.lengths
    ]
    found.append(Table("Words a text", ("", "Texts", "Least", "25 %", "Median", "75 %", "Most"), tuple(lengths)))
    return found


def notes_of(results: Results) -> Iterator[str]:
    """Say what has to be known to read the figures."""
    if not results.finished:
        yield (
            f"{results.judgements:,} of {results.expected:,} judgements are there, of {results.judged:,} of"
            f" {sum(results.texts.values()):,} texts: what is missing may change every figure."
        )
    begun = sum(each.begun for each in results.reviewers)
    if begun:
        yield f"Judgements with one question answered do not count: {begun:,}."
    if len(results.reviewers) > 1:
        yield "A text is natural or coherent when more than half of those who judged it say so."
        split = results.answers["both"].split
        if split:
            yield f"Of {split:,} texts exactly half of the reviewers said natural and coherent: they count as no."
        yield (
            "Where nearly everybody says yes, chance agrees nearly always: kappa and alpha are low though few"
            " differ. Read them beside the share of same answers."
        )
    marks = "; ".join(f"{each.name}: {each.synthetic:.0%} and {each.human:.0%}" for each in results.tells)
    yield (
        f"What may give a source away: the synthetic text of a pair is the longer in {results.longer_share:.0%}; of"
        f" synthetic and human-written texts have {marks}."
    )
    yield (
        "In brackets: 95 % intervals, Wilson's of shares and Newcombe's of differences; p is Fisher's exact test of no"
        " difference. An interval that holds 0 does not show that there is no difference, only how large it may be."
    )
    yield (
        "The paper (section 2.2) gives two counts, 113 and 111 of 128 each; how it put the judgements of its reviewers"
        " together it does not say. Intervals, difference and p of its row are ours of these counts."
    )


def _answer(answer: Answer) -> tuple[str, str, str, str]:
    return _interval(answer.synthetic), _interval(answer.human), *_difference(answer.difference)


def _agreement(results: Results) -> Table:
    rows = [
        (TITLES[question], count(each.texts), percent(each.raw), fixed(each.alpha, 3))
        for question, each in ((question, answer.agreement) for question, answer in results.answers.items())
    ]
    return Table("Agreement", ("", "Texts judged by several", "Same answer", "Krippendorff's alpha"), tuple(rows))


def _pairs(results: Results) -> Table:
    by_question = [answer.agreement.pairs for answer in results.answers.values()]
    rows = [
        (
            f"{pairs[-1].first}, {pairs[-1].second}",
            count(pairs[-1].texts),
            percent(pairs[-1].raw),
            *(fixed(pair.kappa, 3) for pair in pairs),
        )
        for pairs in zip(*by_question, strict=True)
        if pairs[-1].texts
    ]
    kappas = tuple(f"kappa, {TITLES[question]}" for question in results.answers)
    return Table("Agreement of pairs", ("", "Texts", "Same answer", *kappas), tuple(rows))


def _interval(share: Proportion) -> str:
    if share.value is None or share.low is None or share.high is None:
        return NOTHING
    return f"{share.count:,}/{share.of:,}  {share.value:.1%} [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def _share(share: Proportion) -> str:
    return NOTHING if share.value is None else f"{share.count:,}/{share.of:,}  {share.value:.1%}"


def _difference(gap: Difference) -> tuple[str, str]:
    """Write a difference, in percentage points, and its p."""
    if gap.value is None or gap.low is None or gap.high is None or gap.p is None:
        return NOTHING, NOTHING
    points = f"{100 * gap.value:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    return points, "< 0.001" if gap.p < 0.001 else f"{gap.p:.3f}"
