"""Where the evaluations of a data set are, and what one of them has found out that the others need not ask again."""

import re
from collections.abc import Iterable, Mapping

from infra.shards import files
from infra.shards.location import Location
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.evaluation.case import Place
from tasks.records import EVALUATIONS

STAGE = "evaluations"
TABLES = {"evaluations": EVALUATIONS}
FOLDER = "evaluations"  # of a data set; holds a folder an evaluation
ORIGINALS = "originals"  # note of the manifest: whose guesses from the original texts a shard holds

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def evaluation_name(sanitizer: str, evaluator: str) -> str:
    """Return the folder's name of an evaluation, such as ``triplets-by-gpt-oss-120b``."""
    return "-by-".join(_NOT_A_NAME.sub("-", name).strip("-._") or "unnamed" for name in (sanitizer, evaluator))


def evaluations_store(root: Location, dataset: str, name: str) -> StageStore:
    """Return the store of one evaluation: each has a folder of its own, like a data set."""
    return StageStore(root / dataset / FOLDER, name, STAGE, TABLES, id_column="record_id")


def evaluations_of(root: Location, dataset: str, sanitizer: str | None = None) -> dict[str, StageStore]:
    """Return the evaluations of a data set that have something finished, by name; all, or those of one sanitizer."""
    folder = root / dataset / FOLDER
    wanted = evaluation_name(sanitizer, "").removesuffix("unnamed") if sanitizer else ""
    stores = {name: evaluations_store(root, dataset, name) for name in files.folders(folder) if name.startswith(wanted)}
    return {name: store for name, store in stores.items() if store.manifest.shards()}


def original_guesses(
    stores: Iterable[StageStore], shard: ShardRange, *, triplets: str, asked: str
) -> Mapping[Place, str]:
    """Return what was guessed already from the original texts of a shard: no sanitizer changes that.

    Args:
        stores: of evaluations of the data set.
        shard: whose rows.
        triplets: hash of the triplets that are judged; those of others may have other facts.
        asked: fingerprint of evaluator and question.
    """
    found: dict[Place, str] = {}
    for store in stores:
        if shard not in store.manifest.shards():
            continue
        made = store.manifest.record(shard)
        if made.summary.notes.get(ORIGINALS) != asked or made.input_hashes["triplets"] != triplets:
            continue
        for row in store.read_shard("evaluations", shard, ["record_id", "targets"]).to_pylist():
            for number, target in enumerate(row["targets"]):
                if (guess := target["original_guess"]) is not None:
                    found.setdefault((row["record_id"], number), guess)
    return found
