"""Masking at its edge: select in all scores, then write token masks or redacted texts shard by shard."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE
from pydantic import BaseModel, ConfigDict, Field
from tokenizers import Tokenizer

from infra.events import shard_committed
from infra.ray.versions import versions_here
from infra.shards import files
from infra.shards.location import Location
from infra.shards.manifest import ShardSummary
from infra.shards.plan import plan
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import StageStore
from tasks.records import MASKS, REDACTED, SELECTED, SPAN
from tasks.surprise.masking.downstream import token_masks
from tasks.surprise.masking.examples import excerpt
from tasks.surprise.masking.gather import Gathering
from tasks.surprise.masking.redact import Redact, redact
from tasks.surprise.masking.selection import Selection, SpreadText, select
from tasks.surprise.policy import Policy
from tasks.surprise.scored import ScoredSet
from tasks.surprise.scoring.tokenizer import TextTokenizer
from tasks.surprise.spans import Spans
from tasks.surprise.store.steps import read_pieces, scores_store

STAGE_VERSION = 1  # raise it when the code makes other rows of the same scores: finished shards become stale
EXAMPLES = 40
LOCAL = "local"  # folder of what holds private text and is not for release


class MaskJob(BaseModel):
    """All that masking needs: small, and without texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scores_root: Location
    scores: str = Field(description="the data set of scores")
    root: Location
    dataset: str = Field(description="the data set to write")
    policy: Policy
    tokenizer: Path | None = Field(default=None, description="tokenizer.json of the model to be trained")
    redact: Redact | None = Field(default=None, description="write texts for release instead of token masks")

    def source(self) -> StageStore:
        """Return where the scores are."""
        return scores_store(self.scores_root, self.scores)

    def selected(self) -> StageStore:
        """Return where the selected spans go."""
        return StageStore(self.root, self.dataset, "selected", {"selected": SELECTED}, id_column="document_id")

    def target(self) -> StageStore:
        """Return where token masks, or redacted texts, go."""
        name, schema = ("redacted", REDACTED) if self.redact else ("masks", MASKS)
        return StageStore(self.root, self.dataset, name, {name: schema}, id_column="document_id")

    @property
    def local(self) -> Location:
        """Folder of what holds private text."""
        return self.root / self.dataset / LOCAL

    def selection_spec(self) -> str:
        """Fingerprint all that shapes the selection but the scores: the policy."""
        return spec_hash(self.policy, {"stage_version": STAGE_VERSION, "schema": str(SELECTED)})

    def target_spec(self) -> str:
        """Fingerprint all that shapes the rows but the scores and the selection."""
        tokenizer = None if self.tokenizer is None else load_tokenizer(self.tokenizer).sha256
        schema = str(REDACTED if self.redact else MASKS)
        return spec_hash({"redact": self.redact, "tokenizer": tokenizer, "v": STAGE_VERSION, "schema": schema})


@dataclass(frozen=True, slots=True)
class MaskReceipt:
    """What became of a shard, without text."""

    shard: str
    documents: int
    tokens: int
    masked: int
    supervised: int


class TokenizerUnfit(ValueError):
    """A file is no tokenizer; the message names it."""


def load_tokenizer(path: Path) -> TextTokenizer:
    """Load a ``tokenizer.json``, or the one in a model's folder.

    Raises:
        FileNotFoundError: there is none.
        TokenizerUnfit: the file is none.
    """
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"{path}: no tokenizer.json there: give the folder of the model to be trained")
    try:
        return TextTokenizer(Tokenizer.from_file(str(file)), bos_id=None)
    except Exception as error:  # the package raises just that, whatever is wrong with the file
        raise TokenizerUnfit(f"{file}: no tokenizer.json of a fast tokenizer ({error})") from error


@task(task_run_name="select", cache_policy=NO_CACHE)
def select_all(job: MaskJob) -> int:
    """Apply the policy to all scores, groups whole, and commit the spans of every shard that has none of them yet.

    Returns:
        Shards that were written.

    Raises:
        PolicyMismatch, ScoresUnfit: the scores are not what the policy was calibrated for.
    """
    source, target, spec = job.source(), job.selected(), job.selection_spec()
    shards = source.manifest.shards()
    inputs = _inputs(job, source)
    todo = [shard for shard in shards if plan(target, shard, shard.stop, spec, inputs.__getitem__, "stale").todo]
    if not todo:
        return 0
    records = source.manifest.records()
    gathering = Gathering({(shard.start, shard.stop): records[shard].files["scores"].rows for shard in todo})

    def write(part: pa.Table) -> None:
        for bounds, table in gathering.add(part):
            shard = ShardRange(*bounds)
            _commit(target, shard, {"selected": table}, spec, inputs[shard], {})

    spread: list[SpreadText] = []
    shown: list[str] = []
    write(SELECTED.empty_table())  # shards of which no row was scored
    for piece in read_pieces(job.scores_root, job.scores):
        selection = select(piece, job.policy)
        write(_selected(piece, selection))
        spread += selection.spread
        shown += _examples(piece, selection.spans, EXAMPLES - len(shown))
    _write_local(job.local, spread, shown)
    return len(todo)


@task(task_run_name="{shard}", cache_policy=NO_CACHE)
def write_shard(shard: str, job: MaskJob) -> MaskReceipt:
    """Write the token masks, or the redacted texts, of one shard, unless they are there.

    Raises:
        KeyError: the shard has no scores, or no selection yet.
    """
    part, target = ShardRange.parse(shard), job.target()
    selected = job.selected()
    inputs = {
        "scores": job.source().manifest.record(part).files["scores"].sha256,
        "selected": selected.manifest.record(part).files["selected"].sha256,
    }
    chosen = selected.read_shard("selected", part)
    spec = job.target_spec()
    if plan(target, part, part.stop, spec, lambda _: inputs, "stale").todo:
        scored = _scored(job, part)
        pairs = [[(each["start"], each["end"]) for each in row] for row in chosen["spans"].to_pylist()]
        table = _redacted(job.redact, scored, pairs) if job.redact else _masks(job, scored, pairs)
        notes = {"masked_tokens": _total(chosen, "masked_tokens"), "tokens": _total(chosen, "tokens")}
        _commit(target, part, {target.stage: table}, spec, inputs, notes)
        shard_committed(target, part)
    return MaskReceipt(
        shard,
        chosen.num_rows,
        _total(chosen, "tokens"),
        _total(chosen, "masked_tokens"),
        _total(chosen, "supervised_tokens"),
    )


def _inputs(job: MaskJob, source: StageStore) -> Mapping[ShardRange, Mapping[str, str]]:
    """What the selection in each shard depends on: its scores, and through propagation those of all others."""
    hashes = {shard: record.files["scores"].sha256 for shard, record in source.manifest.records().items()}
    everything = {}
    if job.policy.procedure.propagation is not None:
        everything = {"all scores": spec_hash({shard.name: own for shard, own in hashes.items()})}
    return {shard: {"scores": own, **everything} for shard, own in hashes.items()}


def _selected(piece: ScoredSet, selection: Selection) -> pa.Table:
    spans = selection.spans
    bounds = [pa.array(side, type=pa.int32()) for side in (spans.start, spans.end)]
    columns = [
        piece.table["document_id"],
        piece.table["index"],
        pa.ListArray.from_arrays(
            pa.array(spans.row_offsets, type=pa.int32()), pa.StructArray.from_arrays(bounds, fields=list(SPAN))
        ),
        *(
            pa.array(counts, type=pa.int32())
            for counts in (selection.tokens, selection.supervised, selection.masked, selection.unscored)
        ),
    ]
    return pa.Table.from_arrays(columns, schema=SELECTED)


def _scored(job: MaskJob, shard: ShardRange) -> ScoredSet:
    table = job.source().read_shard("scores", shard)
    return ScoredSet(table, job.policy.reference, sha256="")


def _masks(job: MaskJob, scored: ScoredSet, pairs: Sequence[Sequence[tuple[int, int]]]) -> pa.Table:
    if job.tokenizer is None:
        raise ValueError("token masks need the tokenizer of the model to be trained")
    tokenizer = load_tokenizer(job.tokenizer)
    made = token_masks(scored.documents, Spans.of(pairs), tokenizer)
    offsets = pa.array(made.row_offsets, type=pa.int32())
    columns = {
        "document_id": pa.array(scored.ids),
        "index": scored.table["index"].combine_chunks(),
        "group": scored.table["group"].combine_chunks(),
        "token_ids": pa.ListArray.from_arrays(offsets, pa.array(made.ids, type=pa.int32())),
        "mask": pa.ListArray.from_arrays(offsets, pa.array(made.mask)),
        "supervised": pa.ListArray.from_arrays(offsets, pa.array(made.supervised)),
        "tokenizer_sha256": pa.array([tokenizer.sha256] * len(scored), type=pa.string()),
    }
    return pa.Table.from_arrays([columns[name] for name in MASKS.names], names=MASKS.names).cast(MASKS)


def _redacted(how: Redact, scored: ScoredSet, pairs: Sequence[Sequence[tuple[int, int]]]) -> pa.Table:
    rows = []
    for document, index, covered, spans in zip(
        scored.documents, scored.table["index"].to_pylist(), scored.covered.tolist(), pairs, strict=True
    ):
        # What was not scored is not known to be harmless: it goes, too.
        whole = [*spans, (covered, len(document.text))] if covered < len(document.text) else spans
        done = redact(document.text, whole, document.labels, how)
        rows.append(
            {
                "document_id": document.id,
                "index": index,
                "text": done.text,
                "redactions": [asdict(each) for each in done.redactions],
                "masked_characters": done.removed,
                "characters": len(document.text),
            }
        )
    return pa.Table.from_pylist(rows, REDACTED)


def _examples(piece: ScoredSet, spans: Spans, most: int) -> list[str]:
    """The first span of each of the first documents that have one."""
    having = np.flatnonzero(np.diff(spans.row_offsets))[: max(most, 0)].tolist()
    if not having:
        return []
    shown, pairs = piece.take(having), spans.pairs()
    return [
        f"{name}\t{excerpt(text, pairs[place], 0)}"
        for place, name, text in zip(having, shown.ids, shown.texts, strict=True)
    ]


def _write_local(folder: Location, spread: Sequence[SpreadText], shown: Sequence[str]) -> None:
    files.put(folder / ".gitignore", b"*\n")  # private text: never to be published with the masks
    furthest = sorted(spread, key=lambda each: -each.tokens_added)
    listed = json.dumps([asdict(each) for each in furthest], indent=1, ensure_ascii=False)
    files.put(folder / "most-spread.json", f"{listed}\n".encode())
    files.put(folder / "examples.tsv", "".join(f"{line}\n" for line in shown).encode())


def _commit(
    store: StageStore,
    shard: ShardRange,
    tables: Mapping[str, pa.Table],
    spec: str,
    inputs: Mapping[str, str],
    notes: Mapping[str, int],
) -> None:
    rows = sum(table.num_rows for table in tables.values())
    summary = ShardSummary(versions=versions_here(), notes=dict(notes))
    with store.acquire(shard) as lease:
        store.commit(shard, tables, lease, rows, spec_hash=spec, input_hashes=inputs, summary=summary)


def _total(table: pa.Table, column: str) -> int:
    return sum(table[column].to_pylist())
