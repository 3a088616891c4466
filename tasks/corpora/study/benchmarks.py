"""The benchmarks that one command each reproduces: their documents, splits, setting, and methods beside it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.corpora import creddata, hallmark, piibench, presidio_research
from tasks.corpora.corpus import Corpus, Split
from tasks.corpora.dead_code.poison import HUMANEVAL_ATTACKS, MBPP_ATTACK, Passes, poison
from tasks.corpora.dead_code.programs import read_humaneval, read_mbpp
from tasks.corpora.rows import Reject
from tasks.surprise.documents import Document

SEEDS = (0, 1, 2)  # of the three splits, as many as the paper has folds
POISON_SEED = 0


@dataclass(frozen=True)
class Fold:
    """One split; parts are named and hold ids of documents.

    Attributes:
        validation: name and ids of what thresholds are chosen on.
        applications: what they are used on.
    """

    validation: tuple[str, frozenset[str]]
    applications: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Counted:
    """How many of something there are, and how many the published data set has."""

    what: str
    found: int
    published: int


@dataclass(frozen=True)
class Prepared:
    """A benchmark that was read.

    Attributes:
        documents: all of them, each once, whatever the number of folds.
        folds: at least one.
        counted: sizes, for a person to check.
        rejects: rows that could not be used.
    """

    documents: Sequence[Document]
    folds: Sequence[Fold]
    counted: Sequence[Counted]
    rejects: Sequence[Reject]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Attributes:
        name: of the command, and in ``paper.toml``.
        title: for a person.
        preset: the setting's name in ``evaluation.presets``.
        reference: the embedded model that scores unless another is named.
        methods: what stands beside Surprise Masking, by the names that ``privasis surprise evaluate`` knows.
        transfers: strata between which thresholds are carried over (SM Table 12); ``category`` is the labels'.
        prepare: reads a folder; poisoned programs are run by what it is given.
    """

    name: str
    title: str
    preset: str
    reference: str
    methods: tuple[str, ...]
    transfers: tuple[str, ...]
    prepare: Callable[[Path, Passes], Prepared]


def _dead_code(folder: Path, passes: Passes) -> Prepared:
    mbpp, humaneval = read_mbpp(folder), read_humaneval(folder)
    validation = poison(mbpp.programs, MBPP_ATTACK, POISON_SEED, passes)
    attacked = {attack.name: poison(humaneval.programs, attack, POISON_SEED, passes) for attack in HUMANEVAL_ATTACKS}
    # A program's four variants side by side: most are one text, which a shard scores once.
    applications = [document for variants in zip(*attacked.values(), strict=True) for document in variants]
    fold = Fold(("MBPP", _ids(validation)), {name: _ids(documents) for name, documents in attacked.items()})
    counted = [
        Counted("MBPP programs", len(mbpp.programs), 974),
        Counted("poisoned", sum(bool(document.labels) for document in validation), 49),
        Counted("lines inserted", sum(len(document.labels) for document in validation), 73),
        Counted("HumanEval programs", len(humaneval.programs), 164),
        Counted("poisoned in four attacks", sum(bool(document.labels) for document in applications), 32),
        Counted("lines inserted", sum(len(document.labels) for document in applications), 48),
    ]
    return Prepared([*validation, *applications], [fold], counted, [*mbpp.rejects, *humaneval.rejects])


def _creddata(folder: Path, passes: Passes) -> Prepared:
    corpus = creddata.read(folder)
    counted = [
        Counted("contexts", len(corpus.documents), 1864),
        Counted("repositories", len({document.strata["repository"] for document in corpus.documents}), 17),
    ]
    return _split(corpus, creddata.split, counted)


def _presidio_research(folder: Path, passes: Passes) -> Prepared:
    corpus = presidio_research.read(folder)
    return _split(corpus, presidio_research.split, [Counted("texts", len(corpus.documents), 750)])


def _piibench(folder: Path, passes: Passes) -> Prepared:
    split, validation, test = piibench.split(folder)
    documents = [*split.validation, *split.application]
    fold = Fold(("validation", _ids(split.validation)), {"application": _ids(split.application)})
    counted = [
        Counted("validation records", len(split.validation), 10_000),
        Counted("test records", len(split.application), 100_002),
        Counted("labelled spans in the test", sum(len(document.labels) for document in split.application), 308_421),
    ]
    return Prepared(documents, [fold], counted, [*validation.rejects, *test.rejects])


def _hallmark(folder: Path, passes: Passes) -> Prepared:
    corpus = hallmark.read(folder)
    fabricated = sum(document.strata["kind"] == hallmark.FABRICATED for document in corpus.documents)
    counted = [
        Counted("citations", len(corpus.documents) + len(corpus.rejects), 1119),
        Counted("plausible fabrications with a venue", fabricated, 66),
    ]
    return _split(corpus, hallmark.split, counted)


def _split(corpus: Corpus, split: Callable[[Corpus, int], Split], counted: Sequence[Counted]) -> Prepared:
    """Split by each seed, and keep the documents that are in a split."""
    splits = [split(corpus, seed) for seed in SEEDS]
    folds = [Fold(("validation", _ids(each.validation)), {"application": _ids(each.application)}) for each in splits]
    used = frozenset[str]().union(*(fold.validation[1] | fold.applications["application"] for fold in folds))
    return Prepared([each for each in corpus.documents if each.id in used], folds, counted, corpus.rejects)


def _ids(documents: Sequence[Document]) -> frozenset[str]:
    return frozenset(document.id for document in documents)


_CODER, _PROSE = "qwen2.5-coder-0.5b", "smollm2-135m"
BENCHMARKS: Mapping[str, Benchmark] = {
    each.name: each
    for each in (
        Benchmark("dead-code", "Dead-code poisoning", "dead-code", _CODER, ("random", "stm"), (), _dead_code),
        Benchmark(
            "creddata",
            "Credentials (CredData, a subset)",
            "creddata",
            _CODER,
            ("random", "stm", "detect-secrets", "credsweeper", "policy|credsweeper"),
            ("regime", "category"),
            _creddata,
        ),
        Benchmark(
            "presidio-research",
            "Personal data (presidio-research, in place of PIIBench)",
            "piibench",
            _PROSE,
            ("random", "stm"),
            (),
            _presidio_research,
        ),
        Benchmark("piibench", "Personal data (PIIBench)", "piibench", _PROSE, ("random", "stm"), (), _piibench),
        Benchmark("hallmark", "Fabricated citations (HALLMARK)", "hallmark", _PROSE, (), (), _hallmark),
    )
}
