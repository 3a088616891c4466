"""Which triplet is for what, as ``privasis split`` has decided it; what training and export read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

Split = Literal["train", "validation", "test", "vanilla", "hard", "left_out"]
"""``test`` is set aside for a test and not evaluated yet; ``left_out`` is for nothing."""

SPLITS: tuple[Split, ...] = get_args(Split)
TESTS: frozenset[Split] = frozenset({"test", "vanilla", "hard"})


def read_splits(root: Path, dataset: str) -> Mapping[str, Split] | None:
    """Return record id -> split of every triplet that was split, or None where the data set never was.

    Raises:
        ManifestCorrupt: the manifest of the splits cannot be read.
        SchemaMismatch, TableDamaged: a file is not as it was committed.
    """
    from tasks.evaluation.splitting.steps import splits_store  # here: it imports this module's names

    store = splits_store(root, dataset)
    if not store.manifest.shards():
        return None
    rows = store.read("splits", ["record_id", "split"])
    return dict(zip(rows["record_id"].to_pylist(), rows["split"].to_pylist(), strict=True))
