"""Scored documents as calibration, evaluation and masking want them: flat arrays over rows of ``records.SCORES``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.surprise.documents import Document, Interval, Label, Region
from tasks.surprise.policy import Conditioning, Contrasted, Prompted, Reference, Unprompted
from tasks.surprise.procedure import Batch
from tasks.surprise.project import touched
from tasks.surprise.rows import I64, Bool, Scores, check_sizes, offsets_of
from tasks.surprise.scores import contrast
from tasks.surprise.scoring.scorer import F32, Pass, passes_of
from tasks.surprise.spans import Spans
from tasks.surprise.tokens import Tokens


class ScoresUnfit(ValueError):
    """The scores are not what was asked of them: another pass, prompt, model; the message says what to score again."""


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """R scored documents. Arrays are made when they are first asked for, and kept.

    Attributes:
        table: rows of ``tasks.records.SCORES``, all scored by one model.
        reference: that model.
        prompts: the prompt of each pass that has one, by the pass's name.
        sha256: hash of the content of the whole data set that these rows are from.
    """

    table: pa.Table
    reference: Reference
    sha256: str
    prompts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column, ours in (
            ("model", self.reference.model),
            ("tokenizer_sha256", self.reference.tokenizer_sha256),
        ):
            others = set(pc.unique(self.table[column]).to_pylist()) - {ours}
            if others:
                raise ScoresUnfit(
                    f"{column}: scores of {sorted(others)[0]} beside scores of {ours}: score all with one model,"
                    " `privasis surprise score ... --reprocess stale`"
                )

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the documents, R of them."""
        return list(self.table["document_id"].to_pylist())

    @cached_property
    def texts(self) -> list[str]:
        """The texts as scored, R of them."""
        return list(self.table["text"].to_pylist())

    @cached_property
    def lengths(self) -> I64:
        """Code points of each text, shape (R,)."""
        return _whole(pc.utf8_length(self.table["text"]))

    @cached_property
    def covered(self) -> I64:
        """Code points of each text that were scored: less than ``lengths`` where a text was cut, shape (R,)."""
        return _whole(self.table["covered"])

    @cached_property
    def tokens(self) -> Tokens:
        """The reference model's tokens, N of them, with repaired offsets."""
        ids, row_offsets = _lists(self.table["token_ids"])
        start, _ = _lists(self.table["token_starts"])
        end, _ = _lists(self.table["token_ends"])
        return Tokens.from_offsets(_whole(ids), _whole(start), _whole(end), row_offsets, self.covered)

    @cached_property
    def nll(self) -> dict[str, F32]:
        """NLL of each token in nats under each pass, by the pass's name, shape (N,) each; NaN where there is none.

        Raises:
            ScoresUnfit: the documents were not all scored under the same passes.
        """
        structs, offsets = _lists(self.table["nll"])
        rows = len(self)
        if not rows:
            return {}
        names, passes = pc.struct_field(structs, "name").to_pylist(), int(offsets[1])
        if names != names[:passes] * rows:
            raise ScoresUnfit(
                f"documents were scored under different passes ({', '.join(sorted(set(names)))}): score all alike,"
                " `privasis surprise score ... --reprocess stale`"
            )
        values = pc.struct_field(structs, "values")
        found = {}
        for place, name in enumerate(names[:passes]):
            flat, _ = _lists(values.take(pa.array(np.arange(place, passes * rows, passes))))
            found[name] = np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.float32)
            check_sizes("tokens", self.tokens.size, {f"NLL of pass {name}": found[name].size})
        return found

    @cached_property
    def supervised(self) -> Bool:
        """True where a token may be masked: it shares a character with a supervised interval, shape (N,)."""
        given = self.table["supervised"]
        everywhere = np.asarray(given.is_null().to_numpy(), dtype=np.bool_)
        return touched(self.tokens, _spans(given)) | np.repeat(everywhere, np.diff(self.tokens.row_offsets))

    @cached_property
    def groups(self) -> I64:
        """Identity or user of each document as a number, -1 for none, shape (R,)."""
        numbers: dict[str, int] = {}
        names = self.table["group"].to_pylist()
        return np.array(
            [-1 if name is None else numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64
        )

    @cached_property
    def labelled(self) -> Bool:
        """True where somebody looked for private spans, shape (R,)."""
        return np.asarray(self.table["labelled"].to_numpy(), dtype=np.bool_)

    @cached_property
    def labels(self) -> Spans:
        """Private spans, S of them; they may overlap."""
        return _spans(self.table["labels"])

    @cached_property
    def categories(self) -> list[str]:
        """The category of each of the S ``labels``."""
        return _names(self.table["labels"], "category")

    @cached_property
    def regions(self) -> Spans:
        """Fields of documents, or responses of chats."""
        return _spans(self.table["regions"])

    @cached_property
    def region_names(self) -> list[str]:
        """The name of each of the ``regions``."""
        return _names(self.table["regions"], "name")

    @cached_property
    def strata(self) -> list[dict[str, str]]:
        """What results are broken down by, R mappings."""
        return [{each["name"]: each["value"] for each in row} for row in self.table["strata"].to_pylist()]

    @cached_property
    def documents(self) -> list[Document]:
        """The documents one by one."""
        return [_document(row) for row in self.table.select(_DOCUMENT).to_pylist()]

    @cached_property
    def conditionings(self) -> list[Conditioning]:
        """What these scores can be read as: the text alone, after a prompt, or a contrast."""
        found: list[Conditioning] = []
        if "plain" in self.nll:
            found.append(Unprompted())
        if "prompted" in self.nll:
            found.append(Prompted(prompt=self.prompts["prompted"]))
        if "violating" in self.nll and "compliant" in self.nll:
            found.append(Contrasted(violating=self.prompts["violating"], compliant=self.prompts["compliant"]))
        return found

    def scores(self, conditioning: Conditioning) -> Scores:
        """Return the score of each token, shape (N,): its NLL in nats, or the contrast of two passes.

        Raises:
            ScoresUnfit: the documents were not scored so, or with another prompt.
        """
        passes = [self._under(each) for each in passes_of(conditioning)]
        return passes[0] if len(passes) == 1 else contrast(*passes)

    def batch(self, conditioning: Conditioning) -> Batch:
        """Return all that a procedure needs.

        Raises:
            ScoresUnfit: see ``scores``.
        """
        return Batch(
            tokens=self.tokens,
            scores=self.scores(conditioning),
            supervised=self.supervised,
            texts=self.texts,
            regions=self.regions,
            groups=self.groups,
        )

    def take(self, rows: I64 | Bool | Sequence[int]) -> "ScoredSet":
        """Return some of the documents, by place or by flag, shape (R,); ``sha256`` stays the whole's."""
        places = np.asarray(rows)
        if places.dtype == np.bool_:
            check_sizes("documents", len(self), {"flags": places.size})
            places = np.flatnonzero(places)
        return replace(self, table=self.table.take(pa.array(places, type=pa.int64())))

    def _under(self, asked: Pass) -> F32:
        if asked.name not in self.nll:
            option = "the text alone" if asked.prompt is None else f"--{_OPTIONS[asked.name]}"
            raise ScoresUnfit(
                f"no {asked.name} scores here, only {', '.join(self.nll) or 'none'}: score again, with {option}"
            )
        if self.prompts.get(asked.name) != asked.prompt:
            raise ScoresUnfit(
                f"the {asked.name} scores were made with another prompt than the policy's: score again with"
                f" --{_OPTIONS[asked.name]} and the policy's prompt, or calibrate anew"
            )
        return self.nll[asked.name]


_OPTIONS = {"prompted": "prompt", "violating": "violating", "compliant": "compliant"}
_DOCUMENT = ["document_id", "text", "group", "supervised", "labels", "labelled", "regions", "strata"]


def _lists(column: pa.ChunkedArray | pa.Array) -> tuple[Any, I64]:
    """Lay the lists of a column end to end, null as empty: the values, and the row offsets."""
    joined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    lengths = pc.fill_null(pc.list_value_length(joined), 0)
    return joined.flatten(), offsets_of(_whole(lengths))


def _whole(column: Any) -> I64:  # noqa: ANN401 - an array of Arrow, which has no types here
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _spans(column: pa.ChunkedArray) -> Spans:
    structs, offsets = _lists(column)
    return Spans(_whole(pc.struct_field(structs, "start")), _whole(pc.struct_field(structs, "end")), offsets)


def _names(column: pa.ChunkedArray, name: str) -> list[str]:
    structs, _ = _lists(column)
    return list(pc.struct_field(structs, name).to_pylist())


def _document(row: Mapping[str, Any]) -> Document:
    supervised = row["supervised"]
    return Document(
        id=row["document_id"],
        text=row["text"],
        group=row["group"],
        supervised=None if supervised is None else tuple(Interval(each["start"], each["end"]) for each in supervised),
        labels=tuple(Label(each["start"], each["end"], each["category"]) for each in row["labels"]),
        labelled=row["labelled"],
        regions=tuple(Region(each["start"], each["end"], each["name"]) for each in row["regions"]),
        strata={each["name"]: each["value"] for each in row["strata"]},
    )
