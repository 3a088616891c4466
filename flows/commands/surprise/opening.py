"""Scores, labels and policies that a person names by their files."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import ValidationError

from flows.config import ConfigError
from tasks.surprise.documents import Document
from tasks.surprise.evaluation.labels import LabelsUnfit, with_labels
from tasks.surprise.policy import Policy, PolicyMismatch
from tasks.surprise.rows import Bool
from tasks.surprise.scored import ScoredSet, ScoresUnfit
from tasks.surprise.store.steps import read_scores


@dataclass(frozen=True, eq=False)
class Labelled:
    """What to calibrate or to judge on.

    Attributes:
        scored: documents as they were scored.
        documents: the same ones with the labels that count.
        counted: those that somebody looked at, shape (R,); None for all.
    """

    scored: ScoredSet
    documents: Sequence[Document]
    counted: Bool | None = None


def open_scores(folder: Path, read: Callable[[Path, str], ScoredSet] = read_scores) -> ScoredSet:
    """Return scored documents under ``folder``, which is ``<root>/<data set>``: all, or those that ``read`` reads.

    Raises:
        ConfigError: there is no such folder, or no scores of one model in it.
    """
    home = folder.resolve()
    if not home.is_dir():
        raise ConfigError(f"{folder}: no such folder; scores are in the folder that `privasis surprise score` names")
    try:
        return read(home.parent, home.name)
    except ScoresUnfit as error:
        raise ConfigError(f"{folder}: {error}") from error
    except ValueError as error:  # a name that no data set can have
        raise ConfigError(f"{folder}: not a data set: {error}") from error


def open_labelled(folder: Path, labels: Path | None, *, whole_groups: bool) -> Labelled:
    """Return the documents to calibrate or to judge on: with the labels of a file, or with their own.

    Without a file, documents that nobody looked at are left out: of them, no label means nothing.

    Args:
        folder: of the scores.
        labels: the file.
        whole_groups: keep those that share a group with a labelled one, uncounted, because propagation needs them.

    Raises:
        ConfigError: no document is labelled, or the file does not fit.
    """
    scored = open_scores(folder)
    if labels is None:
        return _labelled(scored, folder, whole_groups=whole_groups)
    try:
        return Labelled(scored, with_labels(scored.documents, read_labels(labels)))
    except LabelsUnfit as error:
        raise ConfigError(f"{labels}: {error}") from error


def _labelled(scored: ScoredSet, folder: Path, *, whole_groups: bool) -> Labelled:
    if not scored.labelled.any():
        raise ConfigError(
            f"{folder}: none of {len(scored)} documents is labelled: give --labels, a file of"
            " document_id, start, end and category, or score data that come with labels"
        )
    wanted = scored.labelled
    if whole_groups:
        wanted = wanted | ((scored.groups >= 0) & np.isin(scored.groups, scored.groups[wanted]))
    kept = scored if wanted.all() else scored.take(wanted)
    return Labelled(kept, kept.documents, None if kept.labelled.all() else kept.labelled)


def open_policy(path: Path) -> Policy:
    """Read a policy.

    Raises:
        ConfigError: there is no such file, or it is no policy of this version.
    """
    try:
        return Policy.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such policy; `privasis surprise calibrate` makes one") from error
    except PolicyMismatch as error:
        raise ConfigError(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{path}: not a policy: {place}: {first['msg']}") from error


def check_reference(policy: Policy, scored: ScoredSet, path: Path) -> None:
    """Refuse scores of another model or tokenizer than the policy's.

    Raises:
        ConfigError: they are.
    """
    try:
        policy.check(scored.reference)
    except PolicyMismatch as error:
        raise ConfigError(f"{path}: {error}") from error


def read_labels(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a label file.

    Raises:
        ConfigError: it is neither Parquet nor one JSON object a line.
    """
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path).to_dicts()
        with path.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
    except (pl.exceptions.PolarsError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ConfigError(f"{path}: neither Parquet nor one JSON object a line: {error}") from error
    if not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path}: each line is one JSON object with document_id, start, end")
    return rows
