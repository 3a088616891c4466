"""Methods beside Surprise Masking, by the names that a command line gives them."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tasks.surprise.baselines.combined import Intersection, Union
from tasks.surprise.baselines.detected import Detected
from tasks.surprise.baselines.fixed import Oracle, Random, masked_tokens
from tasks.surprise.baselines.goldfish import GoldfishPaper, GoldfishReference
from tasks.surprise.baselines.loss import SelectiveTokenMasking
from tasks.surprise.baselines.methods import AtThreshold, Material, Method
from tasks.surprise.baselines.privacy_filter import Decoded, LogOdds, Remembering
from tasks.surprise.baselines.tuning import Ground, tuned
from tasks.surprise.calibrate import BestF1, Goal, NoPoint
from tasks.surprise.evaluation.notation import Misspelled
from tasks.surprise.policy import Unit

NAMES = (
    "oracle, random (as many tokens as the first policy masks) or random:SHARE, goldfish:K, goldfish-reference:K, stm"
    " or stm:PERPLEXITY, detect-secrets, credsweeper, presidio or presidio:SPACY_MODEL, opf:MODEL (decoded by Viterbi),"
    " opf-argmax:MODEL, opf-log-odds:MODEL; policy, the first one;"
    " unions such as 'policy|credsweeper', intersections such as 'policy&credsweeper', and 'credsweeper~policy': its"
    " union with the policy tuned on what it leaves of the --validation data"
)
SEED = 1


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What some methods need of the evaluation around them.

    Attributes:
        corpus: the documents, piece by piece.
        policy: the first policy at its threshold, and the corpus it works on; None where there is none.
        validation: that policy's validation corpus, where it is given.
        goal: what thresholds are chosen for.
        unit: what is counted.
        plain: the method will read scores of the text alone, not prompted ones or a contrast.
    """

    corpus: Iterable[Material]
    policy: tuple[AtThreshold, Iterable[Material]] | None = None
    validation: Iterable[Material] | None = None
    goal: Goal = field(default_factory=BestF1)
    unit: Unit = "character"
    plain: bool = True


def method_of(text: str, around: Surroundings) -> Method:
    """Make the method of this name.

    Raises:
        Misspelled: there is none, or it needs a policy.
    """
    if "~" in text:
        return _with_residual(text, around)
    for sign, join in (("|", Union), ("&", Intersection)):
        if sign in text:
            return join(tuple(method_of(part.strip(), around) for part in text.split(sign)))
    name, _, argument = text.partition(":")
    make = _METHODS.get(name)
    if make is None or (argument and name in _WITHOUT_ARGUMENT):
        raise Misspelled(f"--method {text}: there are {NAMES}")
    try:
        return make(argument, around)
    except ValueError as error:
        if isinstance(error, Misspelled):
            raise
        raise Misspelled(f"--method {text}: {error}; there are {NAMES}") from error


def _with_residual(text: str, around: Surroundings) -> Method:
    """A method, and the policy's procedure with a threshold for what that method leaves unmasked (SM F.1)."""
    name, _, second = text.partition("~")
    if second != "policy" or around.policy is None or around.validation is None:
        raise Misspelled(f"--method {text}: give METHOD~policy, a --policy and --validation data to tune it on")
    grounds = _Grounds(around.validation, "token" if around.unit == "token" else "character")
    other = method_of(name, around)
    fixed = other if other.rule is None else _tuned(text, tuned(other, grounds, around.goal))
    added = _tuned(text, tuned(around.policy[0].method, grounds, around.goal, beside=fixed))
    return Union((fixed, added))


@dataclass(frozen=True, eq=False)
class _Grounds:
    """A corpus as grounds to tune on, each made when it is its turn."""

    corpus: Iterable[Material]
    unit: Literal["token", "character"]

    def __iter__(self) -> Iterator[Ground]:
        return (Ground(material, self.unit) for material in self.corpus)


def _tuned(text: str, found: AtThreshold | NoPoint) -> AtThreshold:
    if isinstance(found, NoPoint):
        raise Misspelled(f"--method {text}: no threshold on the validation data: {found.reason}")
    return found


def _policy(argument: str, around: Surroundings) -> Method:
    if around.policy is None:
        raise Misspelled("--method policy: give a --policy for it to stand for")
    return around.policy[0]


def _random(argument: str, around: Surroundings) -> Method:
    if argument:
        supervised = sum(int(material.scored("random").supervised.sum()) for material in around.corpus)
        budget = round(float(argument) * supervised)
        return replace(Random.matched(SEED, budget, around.corpus), name=f"random {argument}")
    if around.policy is None:
        raise Misspelled("--method random: give a --policy whose budget it matches, or a share such as random:0.1")
    return Random.matched(SEED, masked_tokens(*around.policy), around.corpus)


def _goldfish(argument: str, around: Surroundings) -> Method:
    return GoldfishPaper(int(argument or 3), name=f"Goldfish k={argument or 3}")


def _goldfish_reference(argument: str, around: Surroundings) -> Method:
    return GoldfishReference(int(argument or 3), name=f"Goldfish (reference) k={argument or 3}")


def _stm(argument: str, around: Surroundings) -> Method:
    if not around.plain:
        raise Misspelled("--method stm: its limit is one of NLLs of the text alone, and these are prompted scores")
    return SelectiveTokenMasking(float(argument), name=f"STM {argument}") if argument else SelectiveTokenMasking()


def _detect_secrets(argument: str, around: Surroundings) -> Method:
    from infra.detectors.detect_secrets import DetectSecrets  # an extra

    return Detected(DetectSecrets())


def _credsweeper(argument: str, around: Surroundings) -> Method:
    from infra.detectors.credsweeper import CredSweeper  # an extra

    return Detected(CredSweeper())


def _presidio(argument: str, around: Surroundings) -> Method:
    from infra.detectors.presidio import Presidio  # an extra

    return Detected(Presidio(argument) if argument else Presidio())


@functools.lru_cache(maxsize=1)  # decoded and by log odds, it is one model, asked once
def _classifier(model: str) -> Remembering:
    from infra.detectors.privacy_filter import OPENAI_PRIVACY_FILTER, PrivacyFilter  # torch: an extra

    return Remembering(PrivacyFilter.load(model or OPENAI_PRIVACY_FILTER))


def _opf(argument: str, around: Surroundings) -> Method:
    return Decoded(_classifier(argument))


def _opf_argmax(argument: str, around: Surroundings) -> Method:
    return Decoded(_classifier(argument), "argmax", name="OPF argmax")


def _opf_log_odds(argument: str, around: Surroundings) -> Method:
    return LogOdds(_classifier(argument))


_WITHOUT_ARGUMENT = ("policy", "oracle", "detect-secrets", "credsweeper")
_METHODS: Mapping[str, Callable[[str, Surroundings], Method]] = {
    "policy": _policy,
    "oracle": lambda argument, around: Oracle(),
    "random": _random,
    "goldfish": _goldfish,
    "goldfish-reference": _goldfish_reference,
    "stm": _stm,
    "detect-secrets": _detect_secrets,
    "credsweeper": _credsweeper,
    "presidio": _presidio,
    "opf": _opf,
    "opf-argmax": _opf_argmax,
    "opf-log-odds": _opf_log_odds,
}
