"""What the paper finds, each claim judged on our own figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.masking_study.report.rows import MethodRow, gold_nll, passed, privacy

NEAR = 0.1  # share by which a gold NLL may be above that of unmasked training and be near it (SM30 in SM Table 10)
HELPS = 0.2  # share of the leak that a method must take away to help


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, and what we see.

    Attributes:
        claim: as a sentence.
        ours: the figures, in words.
        holds: whether they agree.
    """

    claim: str
    ours: str
    holds: bool


def findings(rows: Sequence[MethodRow]) -> list[Finding]:
    """Judge every claim that the methods at hand allow."""
    named = {row.name: row for row in rows}
    if "unmasked" not in named:
        return []
    return list(_judged(named))


def _judged(named: dict[str, MethodRow]) -> Iterator[Finding]:
    leak, cost = _figures(named["unmasked"])
    yield Finding(
        "Unmasked training leaks (the premise: 60 % of the values, a fifth of the prompts)",
        _percent(leak),
        leak >= _premise(named),
    )
    if "oracle" in named:
        ours = _figures(named["oracle"])
        yield Finding(
            "Oracle masking leaks nearly nothing", f"{_percent(ours[0])} of {_percent(leak)}", ours[0] <= leak / 10
        )
    if (chosen := _chosen(named)) is not None:
        yield from _of_policy(chosen, named)
    for name in (name for name in named if name.startswith("goldfish")):
        ours = _figures(named[name])
        yield Finding(
            f"{name} pays in utility",
            f"gold NLL {ours[1]:.3f} against {cost:.3f}; leak {_percent(ours[0])}",
            ours[1] > cost * (1 + NEAR),
        )


def _of_policy(chosen: MethodRow, named: dict[str, MethodRow]) -> Iterator[Finding]:
    (leak, cost), (ours, nll) = _figures(named["unmasked"]), _figures(chosen)
    yield Finding(
        f"{chosen.name} cuts it to a tenth or less", f"{_percent(ours)} of {_percent(leak)}", ours <= leak / 10
    )
    yield Finding(
        f"{chosen.name} keeps the utility",
        f"gold NLL {nll:.3f} against {cost:.3f}, pass@5 {_passed(chosen)} against {_passed(named['unmasked'])}",
        nll <= cost * (1 + NEAR),
    )
    if (random := named.get(f"random:{chosen.name}")) is not None:
        theirs, _ = _figures(random)
        told = f"{_percent(theirs)} of {_percent(leak)}"
        if _has_values(named):
            yield Finding(f"Random masking of {chosen.name}'s budget does not help", told, theirs > leak * (1 - HELPS))
        else:
            claim = f"Random masking of {chosen.name}'s budget shows more habits than {chosen.name}"
            yield Finding(claim, told, theirs > ours)


def _chosen(named: dict[str, MethodRow]) -> MethodRow | None:
    """Return the policy that the paper recommends: of values the one that masks most, of habits the one least."""
    rows = [row for row in named.values() if row.name.startswith("SM") and row.method.action == "loss"]
    return None if not rows else rows[-1] if _has_values(named) else rows[0]


def _has_values(named: dict[str, MethodRow]) -> bool:
    return bool(named["unmasked"].results[0].extracted)


def _premise(named: dict[str, MethodRow]) -> float:
    return 60.0 if _has_values(named) else 20.0


def _figures(row: MethodRow) -> tuple[float, float]:
    leak, cost = row.mean(privacy), row.mean(gold_nll)
    assert leak is not None
    assert cost is not None
    return leak.value, cost.value


def _percent(value: float) -> str:
    return f"{value:.1f} %"


def _passed(row: MethodRow) -> str:
    value = row.mean(passed)
    assert value is not None
    return _percent(value.value)
