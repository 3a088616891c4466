"""Serves the browser until a signal comes."""

from flows.browse.app import create_browser
from flows.config import ConfigError
from infra.settings import settings
from infra.shards import files
from infra.shards.location import Location
from infra.web.access import Access
from infra.web.serve import serve_web

CACHE = "browse"  # in the cache's folder


def run(root: Location, host: str, port: int, *, open_browser: bool) -> None:
    """Serve the data sets under ``root``, which may be the folder of one of them.

    Raises:
        ConfigError: there is no such folder.
        OSError: the address is taken, or not ours.
    """
    if not files.is_folder(root):
        raise ConfigError(
            f"{root}: no such folder; data sets are made with `privasis synthesize`, or name their folder"
        )
    access = Access.to(host)
    only = files.is_folder(root / "manifest")
    app = create_browser(root.resolve().parent if only else root, access, settings().cache / CACHE)
    page = f"d/{root.resolve().name}" if only else ""
    serve_web(app, access, host, port, doing=f"Browsing {root}", open_browser=open_browser, page=page)
