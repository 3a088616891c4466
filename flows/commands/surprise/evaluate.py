"""``privasis surprise evaluate``: policies and other methods side by side on labelled scores."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from flows.commands.surprise.methods import Surroundings, method_of
from flows.commands.surprise.opening import (
    check_reference,
    material_for,
    open_labelled,
    open_policy,
    plain_material,
)
from flows.config import ConfigError
from infra.shards import files
from infra.shards.location import Location
from tasks.surprise.baselines.methods import AtThreshold, Material, Method, SurpriseMasking
from tasks.surprise.calibrate import BestF1, Goal
from tasks.surprise.evaluation.compare import Compared, compared
from tasks.surprise.evaluation.notation import unit_of
from tasks.surprise.evaluation.terminal import render_results, render_transfer
from tasks.surprise.evaluation.transfer import TransferTable, transfer_table
from tasks.surprise.pictures import curves
from tasks.surprise.policy import Policy, Unit, Unprompted


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be evaluated, as the command line says it."""

    policies: tuple[Path, ...]
    methods: tuple[str, ...]
    unit: str | None
    labels: Path | None
    validation: Path | None
    transfer: str | None
    in_documents: bool


@dataclass(frozen=True, eq=False)
class Contestant:
    """A method with what it works on: the labelled documents, and those it was, or is, calibrated on."""

    method: Method
    threshold: float | None
    goal: Goal
    corpus: Iterable[Material]
    validation: Iterable[Material] | None


def run(folder: Location, asked: Asked, output: Path | None, picture: Path | None, as_json: bool) -> None:
    """Judge what was asked for on the scores in ``folder``; write figures and picture where that was asked for.

    Raises:
        ConfigError: an option is wrong, or the scores are not what a policy needs.
    """
    if not asked.policies and not asked.methods:
        raise ConfigError("nothing to evaluate: give --policy FILE, --method NAME, or several of them")
    policies = {path: open_policy(path) for path in asked.policies}
    for written in filter(None, (output, picture)):  # now, not after the work
        written.parent.mkdir(parents=True, exist_ok=True)
    try:
        unit = _unit(asked.unit, policies)
        contestants = _contestants(folder, asked, policies, unit)
        found = [_compared(each, unit, in_documents=asked.in_documents) for each in contestants]
        table = None if asked.transfer is None else _transfer(contestants[0], asked.transfer, unit)
    except ConfigError:  # names its file already
        raise
    except ValueError as error:
        raise ConfigError(f"{folder}: {error}") from error
    figures = _json(found, unit, table)
    if output is not None:
        files.put(output, f"{figures}\n".encode())
    if picture is not None:
        files.put(picture, _picture(found))
    if as_json:
        sys.stdout.write(f"{figures}\n")
        return
    console = Console()
    console.print(render_results([each.result for each in found], unit))
    if table is not None:
        console.print(render_transfer(table))
    for path in filter(None, (output, picture)):
        console.print(Text(f"Written: {path}"), soft_wrap=True)


def _unit(asked: str | None, policies: dict[Path, Policy]) -> Unit:
    if asked is not None:
        return unit_of(asked)
    return next((policy.achieved.unit for policy in policies.values()), "character")


def _contestants(folder: Location, asked: Asked, policies: dict[Path, Policy], unit: Unit) -> list[Contestant]:
    propagates = any(policy.procedure.propagation is not None for policy in policies.values())
    data = open_labelled(folder, asked.labels, whole_groups=propagates)
    validation = None if asked.validation is None else open_labelled(asked.validation, None, whole_groups=propagates)
    sets = [data, *([validation] if validation else [])]
    found, names = [], _told_apart(list(policies))
    for path, policy in policies.items():
        for each in sets:  # a threshold means nothing to scores of another model, nor do their curves belong together
            check_reference(policy, each.first, path)
        corpora = [each.materials(partial(material_for, policy.procedure, policy.conditioning)) for each in sets]
        method = SurpriseMasking(policy.procedure, name=names[path])
        held_out = corpora[1] if validation else None
        found.append(Contestant(method, policy.threshold, policy.goal, corpora[0], held_out))
    first = next(iter(found), None)
    plain = [each.materials(plain_material) for each in sets]
    masked = None
    if first is not None and first.threshold is not None:
        masked = (AtThreshold(first.method, first.threshold), first.corpus)
    goal = BestF1() if first is None else first.goal
    scored_plain = all("plain" in each.first.nll for each in sets)
    around = Surroundings(plain[0], masked, None if first is None else first.validation, goal, unit, scored_plain)
    read_by_first = next((isinstance(each.conditioning, Unprompted) for each in policies.values()), True)
    for name in asked.methods:
        with_policy = first is not None and "policy" in name
        other = method_of(name, replace(around, plain=read_by_first) if with_policy else around)
        if first is not None and with_policy:  # its scores may be prompted ones
            found.append(Contestant(other, None, goal, first.corpus, first.validation))
        else:
            found.append(Contestant(other, None, goal, plain[0], plain[1] if validation else None))
    return found


def _told_apart(paths: Sequence[Path]) -> dict[Path, str]:
    """Name policies by their files: without ending and folders, unless that is the name of several."""
    stems = Counter(path.stem for path in paths)
    return {path: path.stem if stems[path.stem] == 1 else str(path.with_suffix("")) for path in paths}


def _compared(contestant: Contestant, unit: Unit, *, in_documents: bool) -> Compared:
    return compared(
        contestant.method,
        contestant.corpus,
        unit,
        threshold=contestant.threshold,
        goal=contestant.goal,
        validation=contestant.validation,
        in_documents=in_documents,
    )


def _transfer(first: Contestant, by: str, unit: Unit) -> TransferTable:
    if first.validation is None:
        return transfer_table(first.method, first.corpus, None, unit, by, first.goal)
    return transfer_table(first.method, first.validation, first.corpus, unit, by, first.goal)


def _picture(found: Sequence[Compared]) -> bytes:
    drawable = [each for each in found if each.curve.targets and each.curve.others]
    if not drawable:
        raise ConfigError("no ROC curve to draw: the documents hold no targets, or nothing else")
    graded = [each for each in drawable if each.result.threshold is not None]
    points = [
        curves.FixedPoint(each.result.method, counts.fpr or 0.0, counts.tpr or 0.0)
        for each in drawable
        if each.result.threshold is None and (counts := each.result.overall.counts)
    ]
    pairs = [
        curves.RocPair(each.result.method, each.validation, each.curve)
        for each in graded
        if each.validation is not None
    ]
    if pairs and len(pairs) == len(graded):
        return curves.roc(pairs, points)
    return curves.roc_of_methods([curves.NamedCurve(each.result.method, each.curve) for each in graded], points)


def _json(found: Sequence[Compared], unit: Unit, table: TransferTable | None) -> str:
    figures: dict[str, Any] = {"unit": unit, "methods": [each.json() for each in found]}
    if table is not None:
        figures["transfer"] = table.json()
    return json.dumps(figures, indent=2, allow_nan=False)
