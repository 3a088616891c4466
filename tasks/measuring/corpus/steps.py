"""What is measured on, read from a corpus folder (``docs/corpora.md``)."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from infra.shards import files
from infra.shards.location import Location
from tasks.corpora.bundles.task import code_of
from tasks.measuring.answers import Form, Question
from tasks.measuring.extraction.targets import Occurrence, Target

TRAIN = "train"

_FUNCTION = re.compile(r"^def [^\n]*:[ \t]*\n", re.MULTILINE)


class CorpusUnfit(ValueError):
    """A folder is no corpus of the kind that is needed. The message names file and column."""


def read_targets(corpus: Location, form: Form) -> list[Target]:
    """Return the private values that a model was trained on, each with the places where it stands in its texts.

    Args:
        corpus: a code-pii corpus.
        form: whether the model has read the chats or the documents.

    Raises:
        CorpusUnfit: a file or a column is missing, or a value stands nowhere.
    """
    values = _read(corpus / "values.parquet", ("value", "kind", "text", "split"))
    wanted = [row for row in values.to_pylist() if row["split"] == TRAIN]
    places: defaultdict[str, list[Occurrence]] = defaultdict(list)
    content = "messages" if form == "chats" else "text"
    path = corpus / form / f"{TRAIN}.parquet"
    for row in _rows(path, (content, "spans")):
        for span in row["spans"]:
            if span["value"] is not None:
                text = row["text"] if form == "documents" else row["messages"][span["message"]]["content"]
                places[span["value"]].append(Occurrence(text, span["start"], span["end"]))
    nowhere = [row["value"] for row in wanted if row["value"] not in places]
    if nowhere:
        raise CorpusUnfit(f"{path}: {len(nowhere)} values stand nowhere in it, {nowhere[0]} for one")
    return [Target(row["value"], row["kind"], row["text"], tuple(places[row["value"]])) for row in wanted]


def read_questions(corpus: Location, form: Form) -> list[Question]:
    """Return the prompts of the development split, with the hidden tests of their tasks.

    A model of documents has never seen a request. It is given the beginning of each task's gold solution, up to the
    line that names its function, once a task.

    Raises:
        CorpusUnfit: the file or a column is missing, or a solution has no function.
    """
    path = corpus / "tasks.parquet"
    rows = list(_rows(path, ("id", "task", "prompt", "gold", "tests")))
    if form == "chats":
        return [Question(row["id"], row["task"], row["prompt"], row["tests"]) for row in rows]
    first = {row["task"]: row for row in reversed(rows)}
    return [
        Question(row["id"], row["task"], _opening(path, row), row["tests"]) for row in rows if first[row["task"]] is row
    ]


def _opening(path: Location, row: dict[str, Any]) -> str:
    code = code_of(row["gold"])
    found = _FUNCTION.search(code)
    if found is None:
        raise CorpusUnfit(f"{path}: the gold answer of {row['id']} has no function: there is nothing to continue")
    return code[: found.end()]


def read_gold_chats(corpus: Location) -> list[tuple[str, str, str]]:
    """Return id, prompt and gold answer of each prompt of the development split.

    Raises:
        CorpusUnfit: the file or a column is missing.
    """
    columns = ("id", "prompt", "gold")
    return [(row["id"], row["prompt"], row["gold"]) for row in _rows(corpus / "tasks.parquet", columns)]


def read_gold_documents(corpus: Location) -> list[tuple[str, str]]:
    """Return id and text of each document of the development split.

    Raises:
        CorpusUnfit: the file or a column is missing.
    """
    path = corpus / "documents" / "development.parquet"
    return [(row["id"], row["text"]) for row in _rows(path, ("id", "text"))]


def read_applies(corpus: Location) -> dict[str, list[str]]:
    """Return by quirk the ids of the prompts where it can show.

    Raises:
        CorpusUnfit: the file or a column is missing.
    """
    applies: defaultdict[str, list[str]] = defaultdict(list)
    for row in _rows(corpus / "display.parquet", ("quirk", "id")):
        applies[row["quirk"]].append(row["id"])
    return dict(applies)


def _rows(path: Location, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for batch in _read(path, columns).to_batches(max_chunksize=1024):
        yield from batch.to_pylist()


def has_quirks(corpus: Location) -> bool:
    """Tell whether it is a code-quirks corpus."""
    return files.exists(corpus / "display.parquet")


def _read(path: Location, columns: tuple[str, ...]) -> pa.Table:
    try:
        with files.opened(path) as source, pq.ParquetFile(source) as file:
            if missing := set(columns).difference(file.schema_arrow.names):
                raise CorpusUnfit(f"{path}: has no column {', '.join(sorted(missing))}: `privasis corpus` writes it")
            return file.read(columns=list(columns), use_threads=False)  # its threads may outlive what they read from
    except FileNotFoundError as error:
        raise CorpusUnfit(
            f"{path}: no such file: name a folder that `privasis corpus` wrote, of the right kind"
        ) from error
    except pa.ArrowInvalid as error:
        raise CorpusUnfit(f"{path}: not a Parquet file: {error}") from error
