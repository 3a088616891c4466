"""Every stage that the folder of a data set holds."""

from collections.abc import Mapping

import pyarrow as pa

from flows.commands.datasets import home_of
from flows.config import ConfigError
from infra.shards import files
from infra.shards.location import Location
from infra.shards.store import StageStore

Tables = Mapping[str, pa.Schema]


def stages_of(folder: Location) -> list[StageStore]:
    """Return the store of each stage that has begun in ``folder``: ``<root>/<data set>``, or that of one evaluation.

    Raises:
        ConfigError: there is no such folder, no data set in it, or a stage that this release does not know.
    """
    home = home_of(folder)
    if evaluation := _evaluation(home):
        return [evaluation]
    known = _known()
    stores: list[StageStore] = []
    tabled = {stage for stage, (tables, _) in known.items() if any(files.is_folder(home / table) for table in tables)}
    for stage in sorted(tabled.union(_begun(home))):
        if stage not in known:
            raise ConfigError(f"{folder}: stage {stage!r} is none of this release's: use the one that wrote it")
        tables, id_column = known[stage]
        try:
            stores.append(StageStore(home.parent, home.name, stage, tables, id_column=id_column))
        except ValueError as error:  # a name that no data set can have
            raise ConfigError(f"{folder}: not a data set: {error}") from error
    if not stores:
        raise ConfigError(f"{folder}: not a data set: there is no {home / 'manifest'}")
    return stores + _evaluations(home)


def _begun(home: Location) -> set[str]:
    """Return the names of stages that have a manifest or a journal."""
    places = (home / "manifest", home / "journal")
    return {stage for place in places for stage in files.folders(place)}


def _evaluations(home: Location) -> list[StageStore]:
    """Return the evaluations, each of which has a folder of its own, like a data set."""
    from tasks.evaluation.store.steps import FOLDER, evaluations_store

    folder = home / FOLDER
    names = [name for name in files.folders(folder) if _begun(folder / name)]
    return [evaluations_store(home.parent, home.name, name) for name in names]


def _evaluation(home: Location) -> StageStore | None:
    """Return the evaluation whose own folder this is, if it is one."""
    from tasks.evaluation.store.steps import FOLDER, STAGE, evaluations_store

    if home.parent.name != FOLDER or STAGE not in _begun(home):
        return None
    dataset = home.parent.parent
    return evaluations_store(dataset.parent, dataset.name, home.name)


def _known() -> Mapping[str, tuple[Tables, str]]:
    """Return the tables and the id column of each stage; imported here, for `--help` need not wait for it."""
    from tasks import records
    from tasks.evaluation.splitting import steps as splits
    from tasks.sanitization import steps as triplets
    from tasks.surprise.store import steps as scores
    from tasks.synthesis import steps as synthesis

    return {
        synthesis.STAGE: (synthesis.TABLES, "record_id"),
        triplets.STAGE: (triplets.TABLES, "record_id"),
        splits.STAGE: (splits.TABLES, "record_id"),
        "nap2": ({"nap2": records.NAP2}, "row_id"),
        scores.STAGE: (scores.TABLES, "document_id"),
        "selected": ({"selected": records.SELECTED}, "document_id"),
        "masks": ({"masks": records.MASKS}, "document_id"),
        "redacted": ({"redacted": records.REDACTED}, "document_id"),
        "ranks": ({"ranks": records.RANKS}, "document_id"),
        "routed": ({"routed": records.ROUTED}, "row_id"),
    }
