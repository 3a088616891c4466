"""Scores, labels and policies that a person names by their files."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ValidationError

from flows.config import ConfigError
from infra.shards import files
from infra.shards.location import Location
from tasks.surprise.baselines.methods import Material
from tasks.surprise.documents import Document
from tasks.surprise.evaluation.labels import Labels, LabelsUnfit, by_document, check_known, with_labels
from tasks.surprise.evaluation.material import material_of
from tasks.surprise.policy import Conditioning, Policy, PolicyMismatch
from tasks.surprise.procedure import Procedure
from tasks.surprise.rows import Bool
from tasks.surprise.scored import ScoredSet, ScoresUnfit
from tasks.surprise.store.steps import read_columns, read_first, read_pieces


@dataclass(frozen=True, eq=False)
class Piece:
    """Documents of which memory holds no others at the same time; groups are whole in it.

    Attributes:
        scored: as they were scored.
        documents: the same ones with the labels that count.
        counted: those that somebody looked at, shape (R,); None for all.
    """

    scored: ScoredSet
    documents: Sequence[Document]
    counted: Bool | None = None


@dataclass(frozen=True, slots=True)
class LabelFile:
    """Labels that stand in place of those that the documents were scored with."""

    path: Path
    rows: Labels

    def of(self, documents: Sequence[Document]) -> list[Document]:
        """Give documents their labels.

        Raises:
            ConfigError: a row is no interval of its text.
        """
        try:
            return with_labels(documents, self.rows)
        except LabelsUnfit as error:
            raise ConfigError(f"{self.path}: {error}") from error


class Labelled:
    """What to calibrate or to judge on: pieces, read anew each time it is gone through, unless there is only one.

    Args:
        folder: of the scores.
        first: a few of the documents, to see how all were scored.
        labels: of a file, in place of those of the scores; None for those.
        wanted: documents that are labelled, or share a group with one that is, shape (R,); None for all.
    """

    def __init__(self, folder: Location, first: ScoredSet, labels: LabelFile | None, wanted: Bool | None) -> None:
        self.first = first
        self._home = folder.resolve()
        self._labels = labels
        self._wanted = wanted
        self._only: Piece | None = None

    def __iter__(self) -> Iterator[Piece]:
        """Read piece by piece."""
        if self._only is not None:
            yield self._only
            return
        last, read = None, 0
        for scored in read_pieces(self._home.parent, self._home.name, wanted=self._wanted):
            last, read = self._piece(scored), read + 1
            yield last
        if read == 1:
            self._only = last

    def _piece(self, scored: ScoredSet) -> Piece:
        if self._labels is not None:
            return Piece(scored, self._labels.of(scored.documents))
        return Piece(scored, scored.documents, None if scored.labelled.all() else scored.labelled)

    def materials(self, make: Callable[[Piece], Material]) -> "Materials":
        """Give each piece as what methods work on."""
        return Materials(self, make)


@dataclass(frozen=True, eq=False)
class Materials:
    """A corpus: pieces as what methods work on, each made when it is its turn."""

    data: Labelled
    make: Callable[[Piece], Material]

    def __iter__(self) -> Iterator[Material]:
        """Make them piece by piece."""
        return map(self.make, self.data)


def open_scores(folder: Location, read: Callable[[Location, str], ScoredSet]) -> ScoredSet:
    """Return the scored documents that ``read`` reads under ``folder``, which is ``<root>/<data set>``.

    Raises:
        ConfigError: there is no such folder, or no scores of one model in it.
    """
    home = folder.resolve()
    if not files.is_folder(home):
        raise ConfigError(f"{folder}: no such folder; scores are in the folder that `privasis surprise score` names")
    try:
        return read(home.parent, home.name)
    except ScoresUnfit as error:
        if (near := _scores_near(home)) is not None:
            raise ConfigError(f"{folder}: holds no scores itself: name {near}") from error
        raise ConfigError(f"{folder}: {error}") from error
    except ValueError as error:  # a name that no data set can have
        raise ConfigError(f"{folder}: not a data set: {error}") from error


def holds_scores(folder: Location) -> bool:
    """Tell whether ``folder`` is a data set with scores."""
    return files.is_folder(folder / "manifest" / "scores")


def _scores_near(folder: Location) -> Location | None:
    """Return the data set that was meant where a table of it, or the root that it is in, was named."""
    if holds_scores(folder):
        return None
    beside = [folder.parent, *(folder / name for name in files.folders(folder))]
    return next((each for each in beside if holds_scores(each)), None)


def open_first(folder: Location) -> ScoredSet:
    """Return a few of the scored documents under ``folder``, to see how all were scored.

    Raises:
        ConfigError: there are none.
    """
    first = open_scores(folder, read_first)
    if not len(first):
        raise ConfigError(
            f"{folder}: holds no document, because no row of its input could be scored: {folder / 'score_rejects'}"
            " says of each row why"
        )
    return first


def check_output(folder: Location, output: Location) -> None:
    """Refuse to write into the data set of the scores: they hold the texts that a release must not be beside.

    Raises:
        ConfigError: they are one folder.
    """
    if folder.resolve() == output.resolve():
        raise ConfigError(
            f"--output {output}: the scores are in there, with the texts as they were: name another folder"
        )


def open_labelled(folder: Location, labels: Path | None, *, whole_groups: bool) -> Labelled:
    """Return the documents to calibrate or to judge on: with the labels of a file, or with their own.

    Without a file, documents that nobody looked at are left out: of them, no label means nothing.

    Args:
        folder: of the scores.
        labels: the file.
        whole_groups: keep those that share a group with a labelled one, uncounted, because propagation needs them.

    Raises:
        ConfigError: no document is labelled, or the file does not fit.
    """
    first = open_first(folder)
    columns = read_columns(folder.resolve().parent, folder.resolve().name, ["document_id", "group", "labelled"])
    if labels is None:
        return Labelled(folder, first, None, _wanted(columns, folder, whole_groups=whole_groups))
    try:
        rows = by_document(read_labels(labels))
        check_known(rows, columns["document_id"].to_pylist())
        return Labelled(folder, first, LabelFile(labels, rows), None)
    except LabelsUnfit as error:
        raise ConfigError(f"{labels}: {error}") from error


def _wanted(columns: pa.Table, folder: Location, *, whole_groups: bool) -> Bool | None:
    wanted: Bool = np.asarray(columns["labelled"].to_numpy(), dtype=np.bool_)
    if not wanted.any():
        raise ConfigError(
            f"{folder}: none of {wanted.size} documents is labelled: give --labels, a file of"
            " document_id, start, end and category, or score data that come with labels"
        )
    if whole_groups:
        groups = columns["group"]
        of_labelled = pc.drop_null(groups.filter(pa.array(wanted)))
        wanted = wanted | pc.is_in(groups, value_set=pc.unique(of_labelled)).to_numpy()
    return None if wanted.all() else wanted


def material_for(procedure: Procedure, conditioning: Conditioning, piece: Piece) -> Material:
    """Give a piece with the scores, and the features, that a procedure works on.

    Raises:
        ScoresUnfit: the documents were scored otherwise.
    """
    return material_of(piece.scored, procedure, conditioning, piece.documents, piece.counted)


def plain_material(piece: Piece) -> Material:
    """Give a piece with the scores of the text alone, or whatever scores there are."""
    batch = piece.scored.batch(piece.scored.conditionings[0])
    return Material(piece.documents, batch, counted=piece.counted)


def open_policy(path: Path) -> Policy:
    """Read a policy.

    Raises:
        ConfigError: there is no such file, or it is no policy of this version.
    """
    try:
        return Policy.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: {_why_there_is_none(path)}") from error
    except PolicyMismatch as error:
        raise ConfigError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a policy, nor any text: {_POLICY}") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        fault = ": ".join((*map(str, first["loc"]), first["msg"]))
        raise ConfigError(f"{path}: not a policy ({fault}): {_POLICY}") from error


def report_of(policy: Path) -> Path:
    """Name the file beside a policy in which calibration leaves its figures, also where it makes no policy."""
    return policy.with_suffix(".report.json")


def _why_there_is_none(path: Path) -> str:
    report = report_of(path)
    try:
        reason = _Refused.model_validate_json(report.read_bytes()).chosen.reason
    except (FileNotFoundError, ValidationError):  # nobody calibrated, or a policy was made and is gone
        return "no such policy; `privasis surprise calibrate` makes one"
    return (
        f"no policy, because calibration found no acceptable point: {reason} Try what {report} advises, or another goal"
        " (--best-f1, --collateral-cap, a lower --recall), and calibrate again"
    )


class _NoPoint(BaseModel):
    reason: str


class _Refused(BaseModel):
    """What the report of a calibration without a policy says of it."""

    chosen: _NoPoint


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
        return pl.read_parquet(path).to_dicts() if path.suffix == ".parquet" else _json_lines(path)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file of labels: {_LABELS}") from error
    except pl.exceptions.PolarsError as error:
        raise ConfigError(f"{path}: not a Parquet file: {_LABELS}") from error


def _json_lines(path: Path) -> list[dict[str, Any]]:
    rows = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:  # of JSON, or of UTF-8
                raise ConfigError(f"{path}: line {number} is no JSON in UTF-8: {_LABELS}") from error
            if not isinstance(row, dict):
                raise ConfigError(f"{path}: line {number} is no JSON object: {_LABELS}")
            rows.append(row)
    return rows


_POLICY = "give the file that `privasis surprise calibrate -o` wrote"
_LABELS = "give Parquet, or JSON lines, with document_id, start, end (code points) and category"
