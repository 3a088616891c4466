"""The matrix of a data set: which stages it has, what each reads, and how their shards stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from flows.commands.stages import stages_of
from infra.shards.location import Location
from infra.shards.matrix import Looked, MatrixRow, matrix
from infra.shards.plan import Plan
from infra.shards.store import StageStore

SOURCES: Mapping[str, str] = {"triplets": "records", "splits": "triplets"}  # stage -> table, shard by shard
IN_ORDER = ("records", "triplets", "splits")
EVALUATION_SOURCE = "triplets"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Where every shard of every stage of a data set stood at one moment."""

    folder: Location
    looked_at: datetime
    rows: tuple[MatrixRow, ...]


def matrix_of(folder: Location, plans: Mapping[str, Plan] | None = None) -> Matrix:
    """Look at the data set in ``folder``, ``<root>/<data set>``.

    Args:
        folder: of the data set.
        plans: stage -> how its shards stand by a run's settings; of the others the files tell.

    Raises:
        ConfigError: no data set is there.
    """
    plans = plans or {}
    stages = []
    for store in sorted(stages_of(folder), key=_place):
        name = name_of(store)
        source = SOURCES.get(name) or (EVALUATION_SOURCE if is_evaluation(store) else None)
        stages.append(Looked(store, name, source, plans.get(name)))
    return Matrix(folder, datetime.now(UTC), matrix(stages))


def is_evaluation(store: StageStore) -> bool:
    """Tell whether a stage is an evaluation: each of these has a folder of its own in that of the data set."""
    return "evaluations" in store.tables


def name_of(store: StageStore) -> str:
    """Return what a stage is called: an evaluation has the name of who judged whom."""
    return store.layout.manifest.parent.parent.name if is_evaluation(store) else store.stage


def _place(store: StageStore) -> tuple[int, str]:
    place = IN_ORDER.index(store.stage) if store.stage in IN_ORDER else len(IN_ORDER)
    return place, name_of(store)
