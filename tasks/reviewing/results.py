"""What a review has found: shares by source, by reviewer and by origin, and how far reviewers agree."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.measuring.proportions import Proportion
from tasks.reviewing.agreement import Agreement, agreement
from tasks.reviewing.difference import Difference, difference
from tasks.reviewing.judgements import Judgement
from tasks.reviewing.sheet import SOURCES, Key, Sheet, Source
from tasks.reviewing.tells import Length, Tell

Question = Literal["natural", "coherent", "both"]
QUESTIONS: tuple[Question, ...] = ("natural", "coherent", "both")


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one question, by source.

    A text has it when more than half of those who judged it say so: texts are independent of each other, judgements of
    one text are not, so the interval is of texts.

    Attributes:
        synthetic: texts that have it.
        human: the same of human-written ones.
        difference: synthetic minus human.
        split: texts of which exactly half of the reviewers said yes; they count as no.
        synthetic_judgements: single judgements, for comparison; their interval is too narrow where texts have several.
        human_judgements: the same of human-written ones.
        agreement: of the reviewers.
    """

    synthetic: Proportion
    human: Proportion
    difference: Difference
    split: int
    synthetic_judgements: Proportion
    human_judgements: Proportion
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class OfReviewer:
    """What one reviewer says: shares of texts that are natural and coherent.

    Attributes:
        name: the reviewer's.
        judged: texts with both questions answered.
        begun: texts with one question answered; they do not count.
        synthetic: of synthetic texts.
        human: of human-written ones.
        difference: synthetic minus human.
    """

    name: str
    judged: int
    begun: int
    synthetic: Proportion
    human: Proportion
    difference: Difference


@dataclass(frozen=True, slots=True)
class OfOrigin:
    """Texts of one data set or input that are natural and coherent."""

    source: Source
    origin: str
    both: Proportion


@dataclass(frozen=True, slots=True)
class Comment:
    """What a reviewer wrote about a text."""

    item: str
    source: Source
    reviewer: str
    text: str


@dataclass(frozen=True, slots=True)
class Results:
    """All figures of a review.

    Attributes:
        texts: on the sheet, by source.
        judged: texts that somebody has judged.
        expected: judgements there will be when all reviewers are done.
        judgements: complete ones so far.
        answers: to each question.
        reviewers: each of them.
        origins: where a source has several.
        comments: in the order of reviewers and texts.
        lengths: of all texts there were to draw from, and of those drawn, by source.
        longer_share: how often the synthetic one of a pair is the longer.
        tells: marks that one source may have more often.
    """

    texts: dict[Source, int]
    judged: int
    expected: int
    judgements: int
    answers: dict[Question, Answer]
    reviewers: tuple[OfReviewer, ...]
    origins: tuple[OfOrigin, ...]
    comments: tuple[Comment, ...]
    lengths: tuple[Length, ...]
    longer_share: float
    tells: tuple[Tell, ...]

    @property
    def finished(self) -> bool:
        """Every reviewer has judged every text."""
        return self.judgements == self.expected


def results_of(sheet: Sheet, key: Key, judgements: Mapping[str, Mapping[str, Judgement]]) -> Results:
    """Put the judgements of all reviewers together.

    Args:
        sheet: what was judged.
        key: to it.
        judgements: reviewer -> text -> latest judgement. Those that answer one question only are told and not counted.

    Raises:
        SheetUnfit: the key is another sheet's.
        KeyError: a judgement is of a text that is not on the sheet.
    """
    sources = key.sources(sheet)
    complete = {
        reviewer: {item: each for item, each in judgements[reviewer].items() if each.complete}
        for reviewer in _ordered(judgements)
    }
    answers = {question: _answer(_said(question, complete), sources) for question in QUESTIONS}
    both = _said("both", complete)
    judged = {item for said in complete.values() for item in said}
    return Results(
        texts={source: sum(each == source for each in sources.values()) for source in SOURCES},
        judged=len(judged),
        expected=len(sheet.items) * len(judgements),
        judgements=sum(map(len, complete.values())),
        answers=answers,
        reviewers=tuple(_reviewer(name, judgements[name], both[name], sources) for name in _ordered(judgements)),
        origins=_origins(key, _verdicts(both)),
        comments=tuple(
            Comment(item, sources[item], name, judgements[name][item].comment)
            for name in _ordered(judgements)
            for item in sorted(judgements[name])
            if judgements[name][item].comment
        ),
        lengths=key.lengths,
        longer_share=key.longer_share,
        tells=key.tells,
    )


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.casefold(), name))


def _said(question: Question, complete: Mapping[str, Mapping[str, Judgement]]) -> dict[str, dict[str, bool]]:
    return {
        reviewer: {item: _yes(question, each) for item, each in said.items()} for reviewer, said in complete.items()
    }


def _yes(question: Question, judgement: Judgement) -> bool:
    match question:
        case "natural":
            return bool(judgement.natural)
        case "coherent":
            return bool(judgement.coherent)
        case "both":
            return bool(judgement.natural and judgement.coherent)


def _verdicts(said: Mapping[str, Mapping[str, bool]]) -> dict[str, float]:
    """Return the share of yes of each text that somebody has judged."""
    votes = defaultdict[str, list[bool]](list)
    for answers in said.values():
        for item, yes in answers.items():
            votes[item].append(yes)
    return {item: sum(each) / len(each) for item, each in votes.items()}


def _answer(said: Mapping[str, Mapping[str, bool]], sources: Mapping[str, Source]) -> Answer:
    verdicts = _verdicts(said)
    single = [(item, yes) for answers in said.values() for item, yes in answers.items()]
    texts = _by_source(((item, share > 0.5) for item, share in verdicts.items()), sources)
    judgements = _by_source(single, sources)
    return Answer(
        synthetic=texts["synthetic"],
        human=texts["human"],
        difference=difference(texts["synthetic"], texts["human"]),
        split=sum(share == 0.5 for share in verdicts.values()),
        synthetic_judgements=judgements["synthetic"],
        human_judgements=judgements["human"],
        agreement=agreement(said),
    )


def _reviewer(
    name: str, judged: Mapping[str, Judgement], said: Mapping[str, bool], sources: Mapping[str, Source]
) -> OfReviewer:
    shares = _by_source(said.items(), sources)
    begun = sum(
        not each.complete and (each.natural is not None or each.coherent is not None) for each in judged.values()
    )
    return OfReviewer(
        name=name,
        judged=len(said),
        begun=begun,
        synthetic=shares["synthetic"],
        human=shares["human"],
        difference=difference(shares["synthetic"], shares["human"]),
    )


def _by_source(answers: Iterable[tuple[str, bool]], sources: Mapping[str, Source]) -> dict[Source, Proportion]:
    found: dict[Source, list[bool]] = {source: [] for source in SOURCES}
    for item, yes in answers:
        found[sources[item]].append(yes)
    return {source: _share(each) for source, each in found.items()}


def _origins(key: Key, verdicts: Mapping[str, float]) -> tuple[OfOrigin, ...]:
    """Break the answer down by origin, where a source has several."""
    names = {source: sorted({each.origin for each in key.entries if each.source == source}) for source in SOURCES}
    if all(len(each) < 2 for each in names.values()):
        return ()
    of = {entry.id: (entry.source, entry.origin) for entry in key.entries}
    return tuple(
        OfOrigin(
            source,
            origin,
            _share([share > 0.5 for item, share in verdicts.items() if of[item] == (source, origin)]),
        )
        for source in SOURCES
        for origin in names[source]
    )


def _share(said: Sequence[bool]) -> Proportion:
    return Proportion.counted(sum(said), len(said))
