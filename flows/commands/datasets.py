"""Data sets that a person names by their folder."""

from flows.config import ConfigError
from infra.shards import files
from infra.shards.location import Location
from infra.shards.store import StageStore


def open_records(folder: Location) -> StageStore:
    """Return the store of the records under ``folder``, which is ``<root>/<data set>``.

    Raises:
        ConfigError: there is no such folder, or no data set in it.
    """
    from tasks.synthesis.steps import records_store

    home = folder.resolve()
    if not files.is_folder(home):
        raise ConfigError(f"{folder}: no such folder; a data set is the folder <root>/<name> of `privasis synthesize`")
    try:
        store = records_store(home.parent, home.name)
    except ValueError as error:  # a name that no data set can have
        raise ConfigError(f"{folder}: not a data set: {error}") from error
    layout = store.layout
    if not any(files.is_folder(place) for place in (layout.manifest, layout.journal, *layout.tables.values())):
        raise ConfigError(f"{folder}: not a data set of records: there is no {layout.manifest}")
    return store


def open_finished(folder: Location) -> StageStore:
    """Return the store of the records under ``folder``, where some are finished.

    Raises:
        ConfigError: there is no such folder, no data set in it, or nothing finished in that.
        ManifestCorrupt: its manifest cannot be read.
    """
    store = open_records(folder)
    if not store.manifest.shards():
        raise ConfigError(f"{folder}: no shard is finished yet: `privasis synthesize` goes on with it")
    return store
