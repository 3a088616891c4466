"""The figures of a shard's manifest after some of its rows were made again: what was, less theirs, plus theirs now."""

from collections.abc import Mapping
from typing import Any

from tasks.shards.money import BESIDE, Lines, Spending, lines_to_json

Json = Mapping[str, Any]


def steps_sum(was: Json, less: Json, plus: Json) -> dict[str, dict[str, int]]:
    """Return calls and tokens by step; a step of which nothing is left is left out."""
    found: dict[str, dict[str, int]] = {}
    for step in sorted(was.keys() | plus.keys()):
        names = was.get(step, {}).keys() | plus.get(step, {}).keys()
        counts = {name: _part(was, step, name) - _part(less, step, name) + _part(plus, step, name) for name in names}
        if counts.get("calls", 0) > 0:
            found[step] = {name: max(0, count) for name, count in sorted(counts.items())}
    return found


def spending_sum(was: Any, less: Any, plus: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the lines of what was paid, by model and step; what was paid beside the answers adds up."""
    lines: dict[tuple[str, str], Spending] = {}
    for sign, listed in ((1, was), (-1, less), (1, plus)):
        for line in Lines.validate_python(listed):
            if sign < 0 and line.step in BESIDE:
                continue
            key = (line.model, line.step)
            lines[key] = _added(lines.get(key), line, sign)
    return lines_to_json(line for _, line in sorted(lines.items()) if line.calls or line.prompt or line.completion)


def spreads_sum(was: Json, less: Json, plus: Json) -> dict[str, Any]:
    """Return the histograms of ``tasks.shards.spreads``; of other bounds than now, those of before stay."""
    if not was or was["bounds"] != plus["bounds"]:
        return dict(was)
    steps: dict[tuple[str, str], dict[str, Any]] = {}
    for sign, spreads in ((1, was), (-1, less), (1, plus)):
        for each in spreads["steps"]:
            key = (each["step"], each["model"])
            steps[key] = _spread(steps.get(key), each, sign)
    left = [each for _, each in sorted(steps.items()) if any(each["seconds"]["counts"])]
    return {"bounds": was["bounds"], "steps": left}


def _part(steps: Json, step: str, name: str) -> int:
    return int(steps.get(step, {}).get(name, 0))


def _added(before: Spending | None, line: Spending, sign: int) -> Spending:
    if before is None:
        return line if sign > 0 else line.model_copy(update=dict.fromkeys(_COUNTS, 0) | {"cost_usd": 0.0})
    counts = {name: max(0, getattr(before, name) + sign * getattr(line, name)) for name in _COUNTS}
    unknown = before.cost_usd is None or line.cost_usd is None
    cost = None if unknown else max(0.0, (before.cost_usd or 0.0) + sign * (line.cost_usd or 0.0))
    return before.model_copy(update=counts | {"cost_usd": cost})


_COUNTS = ("calls", "prompt", "cached", "completion", "reasoning")


def _spread(before: Json | None, each: Json, sign: int) -> dict[str, Any]:
    added: dict[str, Any] = {"step": each["step"], "model": each["model"]}
    for name in ("seconds", "prompt", "completion"):
        counts, total = each[name]["counts"], each[name]["total"]
        old: Json = before[name] if before else {"counts": [0] * len(counts), "total": 0.0}
        added[name] = {
            "counts": [max(0, one + sign * other) for one, other in zip(old["counts"], counts, strict=True)],
            "total": max(0.0, old["total"] + sign * total),
        }
    return added
