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

    home = home_of(folder)
    try:
        store = records_store(home.parent, home.name)
    except ValueError as error:  # a name that no data set can have
        raise ConfigError(f"{folder}: not a data set: {error}") from error
    layout = store.layout
    if not any(files.is_folder(place) for place in (layout.manifest, layout.journal, *layout.tables.values())):
        raise ConfigError(f"{folder}: not a data set of records: there is no {layout.manifest}")
    return store


def home_of(folder: Location) -> Location:
    """Return a data set's folder whole, and refuse one of data sets: one of them may be called as a table is.

    Raises:
        ConfigError: it is no folder; or it has neither manifest nor journal, but a folder in it has.
    """
    home = folder.resolve()
    if not files.is_folder(home):
        if files.exists(home):
            raise ConfigError(f"{folder}: a file; a data set is a folder, <root>/<name> of `privasis synthesize`")
        raise ConfigError(f"{folder}: no such folder; a data set is the folder <root>/<name> of `privasis synthesize`")
    if _has_begun(home):
        return home
    within = next((name for name in files.folders(home) if _has_begun(home / name)), None)
    if within is not None:
        raise ConfigError(
            f"{folder}: no data set, but a folder of data sets: name one of them, such as {folder / within}"
        )
    return home


def _has_begun(home: Location) -> bool:
    """Tell whether a stage has a manifest or a journal in ``home``, or had one and left the folder."""
    return any(files.is_folder(home / name) for name in ("manifest", "journal"))


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
