"""Where a data set's scores are kept, and reading them back: whole, or in pieces that fit into memory."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from infra.shards.location import Location
from infra.shards.manifest import ShardRecord
from infra.shards.spec import spec_hash
from infra.shards.store import StageStore
from tasks.records import SCORE_REJECTS, SCORES
from tasks.surprise.policy import Reference
from tasks.surprise.rows import I64, Bool, check_sizes
from tasks.surprise.scored import ScoredSet, ScoresUnfit

STAGE = "scores"
TABLES = {"scores": SCORES, "score_rejects": SCORE_REJECTS}
PIECE_TOKENS = 4_000_000  # 1.4 GiB to calibrate on (docs/masking.md)


def scores_store(root: Location, dataset: str) -> StageStore:
    """Return the store of a data set's scores."""
    return StageStore(root, dataset, STAGE, TABLES, id_column="document_id")


def read_scores(root: Location, dataset: str) -> ScoredSet:
    """Return all scored documents of a data set, in the order of the input.

    Raises:
        ScoresUnfit: there are none, or shards differ in model, tokenizer or prompts.
        ManifestCorrupt, TableDamaged, SchemaMismatch: files of the data set are damaged.
    """
    store = scores_store(root, dataset)
    whole = _empty(store)
    return _filled(whole, store.read("scores"))


def read_first(root: Location, dataset: str) -> ScoredSet:
    """Return the documents of the first shard that has some, few enough to look at how all were scored.

    Raises:
        ScoresUnfit: there are none, or shards differ in model, tokenizer or prompts.
        ManifestCorrupt, TableDamaged, SchemaMismatch: files of the data set are damaged.
    """
    store = scores_store(root, dataset)
    whole = _empty(store)
    for shard, record in store.manifest.records().items():
        if record.files["scores"].rows:
            return _filled(whole, store.read_shard("scores", shard))
    return whole


def read_document(root: Location, dataset: str, document_id: str) -> ScoredSet:
    """Return one scored document, or an empty set where there is none of that id; no other text is read.

    Raises:
        ScoresUnfit: nothing is scored, or shards differ in model, tokenizer or prompts.
        ManifestCorrupt, TableDamaged, SchemaMismatch: files of the data set are damaged.
    """
    store = scores_store(root, dataset)
    whole = _empty(store)
    for shard in store.manifest.shards():
        place = pc.index(store.read_shard("scores", shard, ["document_id"])["document_id"], document_id).as_py()
        if place >= 0:
            return _filled(whole, store.read_shard("scores", shard).slice(place, 1))
    return whole


def read_columns(root: Location, dataset: str, columns: list[str]) -> pa.Table:
    """Return some columns of all scored documents, in the order of the input: small ones, such as ids or groups.

    Raises:
        ManifestCorrupt, TableDamaged, SchemaMismatch: files of the data set are damaged.
    """
    store = scores_store(root, dataset)
    empty = SCORES.empty_table().select(columns)
    return pa.concat_tables([empty, *(store.read_shard("scores", shard, columns) for shard in store.manifest.shards())])


def read_shards(root: Location, dataset: str) -> Iterator[ScoredSet]:
    """Yield all scored documents shard by shard, in the order of the input; groups may be cut in two.

    Raises:
        ScoresUnfit: there are none, or shards differ in model, tokenizer or prompts.
        ManifestCorrupt, TableDamaged, SchemaMismatch: files of the data set are damaged.
    """
    store = scores_store(root, dataset)
    whole = _empty(store)
    for shard in store.manifest.shards():
        yield _filled(whole, store.read_shard("scores", shard))


def has_groups(root: Location, dataset: str) -> bool:
    """Tell whether a scored document has a group."""
    store = scores_store(root, dataset)
    read = (store.read_shard("scores", shard, ["group"])["group"] for shard in store.manifest.shards())
    return any(column.null_count < len(column) for column in read)


def read_pieces(
    root: Location, dataset: str, tokens: int = PIECE_TOKENS, wanted: Bool | None = None
) -> Iterator[ScoredSet]:
    """Yield the scored documents of a data set in pieces of about so many tokens; no group is cut in two.

    Propagation sees one batch: all documents of a group are in one piece, however far apart they lie. A group of more
    than ``tokens`` makes a larger piece. Documents of a piece are in the order of the input.

    Args:
        root: of the data sets.
        dataset: of the scores.
        tokens: of a piece.
        wanted: which documents, in the order of the input, shape (R,); None for all.

    Raises:
        ScoresUnfit: there are none, or shards differ in model, tokenizer or prompts.
        ManifestCorrupt, TableDamaged, SchemaMismatch: files of the data set are damaged.
    """
    store = scores_store(root, dataset)
    whole = _empty(store)
    shards = store.manifest.shards()
    groups: list[str | None] = []
    sizes: list[I64] = []
    for shard in shards:  # one at a time: ids of all tokens may be more than the memory holds
        columns = store.read_shard("scores", shard, ["group", "token_ids"])
        groups += columns["group"].to_pylist()
        sizes.append(_list_lengths(columns["token_ids"]))
    rows = np.cumsum([0, *(part.size for part in sizes)])
    piece_of = _piece_of_wanted(groups, np.concatenate(sizes), tokens, wanted)
    for piece in range(int(piece_of.max(initial=-1)) + 1):
        tables = []
        for place, shard in enumerate(shards):
            here = np.flatnonzero(piece_of[rows[place] : rows[place + 1]] == piece)
            if here.size:
                tables.append(store.read_shard("scores", shard).take(pa.array(here)))
        yield _filled(whole, pa.concat_tables(tables))


def _piece_of_wanted(groups: list[str | None], sizes: I64, most: int, wanted: Bool | None) -> I64:
    """Deal out the wanted documents by ``pieces``; -1 for the others."""
    if wanted is None:
        return pieces(groups, sizes, most)
    check_sizes("documents", sizes.size, {"wanted": wanted.size})
    at = np.flatnonzero(wanted)
    piece_of = np.full(sizes.size, -1, dtype=np.int64)
    piece_of[at] = pieces([groups[place] for place in at.tolist()], sizes[at], most)
    return piece_of


def pieces(groups: list[str | None], sizes: I64, most: int) -> I64:
    """Deal documents out to pieces of at most ``most`` tokens, groups whole, in the order in which they first come.

    Args:
        groups: of each document, R of them; None for a document that is a group of its own.
        sizes: tokens of each document, shape (R,).
        most: tokens of a piece, unless one group alone has more.

    Returns:
        The number of each document's piece, from 0, shape (R,).
    """
    names: dict[object, int] = {}
    keys = [place if name is None else name for place, name in enumerate(groups)]
    group = np.array([names.setdefault(key, len(names)) for key in keys], dtype=np.int64)
    piece, held = 0, 0
    of_groups = np.zeros(len(names), dtype=np.int64)
    for number, size in enumerate(np.bincount(group, sizes, len(names))):
        if held and held + size > most:
            piece, held = piece + 1, 0
        of_groups[number] = piece
        held += int(size)
    return np.asarray(of_groups[group])


def _empty(store: StageStore) -> ScoredSet:
    """Return no documents, with what the manifest says of those there are."""
    records = store.manifest.records()
    if not records:
        raise ScoresUnfit(f"{store.layout.manifest}: nothing is scored yet: `privasis surprise score` first")
    (first, what), *others = [(shard, _what(record)) for shard, record in records.items()]
    reading = records[first].summary.notes.get("reading")
    for shard, other in others:
        if other != what:
            raise ScoresUnfit(
                f"{store.layout.manifest}: {first.name} and {shard.name} were scored with different models or prompts:"
                " run `privasis surprise score` again with `--reprocess stale`"
            )
        if (read := records[shard].summary.notes.get("reading")) != reading:
            raise ScoresUnfit(
                f"{store.layout.manifest}: {first.name} was read as {reading}, {shard.name} as {read}, which makes"
                " other scores: run `privasis surprise score` again with `--reprocess all`, on machines of one kind"
            )
    reference, prompts = what
    content = spec_hash({shard.name: record.files["scores"].sha256 for shard, record in records.items()})
    return ScoredSet(SCORES.empty_table(), reference, content, prompts)


def _what(record: ShardRecord) -> tuple[Reference, dict[str, str]]:
    notes = record.summary.notes
    prompts = notes["prompts"]
    assert isinstance(prompts, dict)
    return Reference.model_validate(notes["reference"]), {str(name): str(text) for name, text in prompts.items()}


def _filled(whole: ScoredSet, table: pa.Table) -> ScoredSet:
    return ScoredSet(table, whole.reference, whole.sha256, whole.prompts)


def _list_lengths(column: pa.ChunkedArray) -> I64:
    return np.asarray(pc.list_value_length(column).to_numpy(), dtype=np.int64)
