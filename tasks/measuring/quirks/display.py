"""How often a model writes as one of the users wrote: quirk display@5 (SM B.3).

    display@5 = 1/10 sum_q 1/|A_q| sum over t in A_q of [some of the first five answers to t shows q]

``A_q``: the prompts where quirk ``q`` can show. Answers count whether or not their code does what it should; one that
is no Python shows nothing and is counted apart, since a model that writes no Python would seem to have no quirk.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.corpora.bundles.task import code_of
from tasks.corpora.code_quirks.quirks import QUIRKS, shows
from tasks.measuring.proportions import Proportion

FIRST = 5  # answers of a prompt that are looked at


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the answers to one prompt show.

    Attributes:
        id: of the prompt.
        unparsable: of each answer, whether it is no Python.
        shown: by quirk, of each answer, whether it shows it; False where it is no Python.
    """

    id: str
    unparsable: tuple[bool, ...]
    shown: Mapping[str, tuple[bool, ...]]


@dataclass(frozen=True, slots=True)
class Display:
    """How often each quirk shows.

    Attributes:
        first: answers of a prompt that were looked at.
        quirks: by quirk, the prompts where it shows, of those where it can.
        mean: over quirks, each weighing the same; None without any.
        answers: looked at in all.
        unparsable: of them, no Python.
    """

    first: int
    quirks: Mapping[str, Proportion]
    mean: float | None
    answers: int
    unparsable: int


def look(id_: str, answers: Sequence[str]) -> Sighting:
    """Look for each of the ten quirks in the answers to a prompt: in the first fenced block of each, or all of it."""
    programs = [code_of(answer) for answer in answers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd escapes: Python would print the line
        found = {quirk: [shows(quirk, program) for program in programs] for quirk in QUIRKS}
    unparsable = tuple(not each.parsed for each in found[QUIRKS[0]])  # the same of every quirk
    return Sighting(id_, unparsable, {quirk: tuple(each.found for each in seen) for quirk, seen in found.items()})


def display(sightings: Sequence[Sighting], applies: Mapping[str, Collection[str]], first: int = FIRST) -> Display:
    """Count over prompts.

    Args:
        sightings: one for each prompt.
        applies: by quirk, ids of the prompts where it can show.
        first: answers of a prompt that count.

    Raises:
        ValueError: a prompt has fewer answers, or was not looked at, or not for this quirk.
    """
    seen = {each.id: each for each in sightings}
    for each in sightings:
        if len(each.unparsable) < first:
            raise ValueError(f"{each.id}: {len(each.unparsable)} answers, display@{first} needs {first}")
    quirks = {quirk: _rate(quirk, ids, seen, first) for quirk, ids in applies.items()}
    values = [rate.value for rate in quirks.values() if rate.value is not None]
    return Display(
        first=first,
        quirks=quirks,
        mean=sum(values) / len(values) if values else None,
        answers=first * len(sightings),
        unparsable=sum(sum(each.unparsable[:first]) for each in sightings),
    )


def _rate(quirk: str, ids: Collection[str], seen: Mapping[str, Sighting], first: int) -> Proportion:
    missing = sorted(id_ for id_ in ids if id_ not in seen or quirk not in seen[id_].shown)
    if missing:
        raise ValueError(f"{quirk}: {missing[0]} and {len(missing) - 1} more prompts were not looked at for it")
    return Proportion.counted(sum(any(seen[id_].shown[quirk][:first]) for id_ in ids), len(ids))
