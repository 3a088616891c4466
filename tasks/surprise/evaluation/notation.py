"""The short forms in which a person names the parts of a procedure: ``fixed:4``, ``top:3+prompted``, ``local:64``."""

from dataclasses import dataclass
from typing import Literal, get_args

from tasks.surprise.calibrate import BestF1, Goal, RecallUnderCap, TargetRecall
from tasks.surprise.policy import Unit
from tasks.surprise.procedure import (
    FixedWindows,
    MeanScore,
    RegionWindows,
    ScoreKind,
    SegmentWindows,
    TextWindows,
    TopScore,
    WholeWindows,
    WindowKind,
)
from tasks.surprise.rules import GlobalRule, LocalRule, Rule

Reading = Literal["plain", "prompted", "contrast"]
UNITS: tuple[Unit, ...] = get_args(Unit)


class Misspelled(ValueError):
    """A short form that nothing is called by; the message lists those there are."""


@dataclass(frozen=True, slots=True)
class ScoreChoice:
    """Which scores of the tokens are read, and how those of a window become one."""

    reading: Reading
    kind: ScoreKind


def windows_of(text: str) -> WindowKind:
    """Read ``fixed:N``, ``lines``, ``sentences``, ``fields``, ``responses``, ``segments`` or ``whole``.

    Raises:
        Misspelled: it is none of these.
    """
    name, _, number = text.partition(":")
    match name, number:
        case "fixed", _ if _is_count(number):
            return FixedWindows(width=int(number))
        case ("lines" | "sentences") as kind, "":
            return TextWindows(kind=kind)
        case ("fields" | "responses") as kind, "":
            return RegionWindows(kind=kind)
        case "segments", "":
            return SegmentWindows()
        case "whole", "":
            return WholeWindows()
    raise Misspelled(
        f"windows {text!r}: give fixed:N (N tokens, 1 or more), lines, sentences, fields, responses, segments or whole"
    )


def score_of(text: str) -> ScoreChoice:
    """Read ``mean``, ``top:N``, ``prompted``, ``contrast``, or two of them joined such as ``top:3+prompted``.

    Raises:
        Misspelled: a part is none of these, or there are two of a sort.
    """
    readings: list[Reading] = []
    kinds: list[ScoreKind] = []
    for part in text.split("+"):
        name, _, number = part.partition(":")
        match name, number:
            case "mean", "":
                kinds.append(MeanScore())
            case "top", _ if _is_count(number):
                kinds.append(TopScore(count=int(number)))
            case ("prompted" | "contrast" | "plain") as reading, "":
                readings.append(reading)
            case _:
                raise Misspelled(
                    f"score {text!r}: give mean, top:N, prompted or contrast, or two such as top:3+prompted"
                )
    if len(readings) > 1 or len(kinds) > 1:
        raise Misspelled(f"score {text!r}: one of mean and top:N, and one of plain, prompted and contrast")
    return ScoreChoice(readings[0] if readings else "plain", kinds[0] if kinds else MeanScore())


def rule_of(text: str) -> Rule:
    """Read ``global``, ``local`` or ``local:N``, N neighbours in all, half of them on each side (SM D.2: 64).

    Raises:
        Misspelled: it is neither, or N is odd.
    """
    name, colon, number = text.partition(":")
    match name, colon:
        case "global", "":
            return GlobalRule()
        case "local", "":
            return LocalRule()
        case "local", ":" if _is_count(number) and int(number) % 2 == 0:
            return LocalRule(neighbours=int(number) // 2)
    raise Misspelled(f"rule {text!r}: give global or local:N, N neighbouring windows in all, an even number such as 64")


def goal_of(recall: float | None, best_f1: bool, collateral_cap: float | None) -> Goal:
    """Choose the one goal that was asked for; SM95 where none was.

    Raises:
        Misspelled: more than one was, or a share is out of range.
    """
    asked = [recall is not None, best_f1, collateral_cap is not None]
    if sum(asked) > 1:
        raise Misspelled("a threshold has one goal: give --recall, --best-f1 or --collateral-cap, not several")
    if best_f1:
        return BestF1()
    if collateral_cap is not None:
        if not 0 <= collateral_cap < 1:
            raise Misspelled(f"collateral cap {collateral_cap}: a share of the other content, 0 <= cap < 1")
        return RecallUnderCap(collateral=collateral_cap)
    wanted = 0.95 if recall is None else recall
    if not 0 < wanted <= 1:
        raise Misspelled(f"recall {wanted}: a share of the targets, 0 < recall <= 1, such as .95")
    return TargetRecall(recall=wanted)


def unit_of(text: str) -> Unit:
    """Read what is counted.

    Raises:
        Misspelled: no unit is called that.
    """
    for unit in UNITS:
        if unit == text:
            return unit
    raise Misspelled(f"unit {text!r}: give one of {', '.join(UNITS)}")


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) >= 1
