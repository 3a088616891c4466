"""The application behind ``privasis browse``: every page it has. It reads, and never writes into the root."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import JSONResponse, Response

from flows.browse import views
from flows.browse.asked import AddressUnusable, asked
from flows.browse.catalog import Catalog, NotThere, Stage, above
from flows.browse.charts import ChartBook
from flows.browse.kinds import KINDS, Kind
from flows.browse.listing import Lists
from flows.browse.pages import templates
from flows.browse.row_views import row_view
from infra.search.index import IndexDamaged, SearchTooLong
from infra.search.words import QueryUnusable
from infra.shards.checks import SchemaMismatch
from infra.shards.lease import LeaseCorrupt
from infra.shards.location import Location
from infra.shards.manifest import ManifestCorrupt
from infra.shards.parquet import TableDamaged
from infra.shards.s3 import StorageRefused, StorageUnavailable
from infra.shards.states import counts, states_of
from infra.web.access import Access
from infra.web.app import create_web_app

_STATUS: dict[type[Exception], int] = {
    NotThere: 404,
    AddressUnusable: 422,
    QueryUnusable: 422,
    SearchTooLong: 503,
    IndexDamaged: 503,
    sqlite3.OperationalError: 503,
    OSError: 503,
    TableDamaged: 500,
    SchemaMismatch: 500,
    ManifestCorrupt: 500,
    LeaseCorrupt: 500,
    StorageRefused: 502,
    StorageUnavailable: 502,
}
_TITLES = {404: "Not there", 422: "Not understood", 500: "Damaged", 502: "The object store", 503: "Not now"}
_SHARDS = 100  # of a page


def create_browser(root: Location, access: Access, cache: Path) -> FastAPI:
    """Return the application over the data sets under ``root``.

    Args:
        root: folder of the data sets, here or in an object store.
        access: who may see it.
        cache: folder for indexes.
    """
    environment = templates()
    app = create_web_app("privasis browse", access, environment, static_of="flows.browse")
    catalog, charts = Catalog(root), ChartBook()
    lists = Lists(catalog, cache)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        lists.close()

    app.router.lifespan_context = lifespan

    def page(name: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401 - whatever the template takes
        return HTMLResponse(environment.get_template(f"{name}.html.jinja").render(**values), status)

    for kind_of_error, status in _STATUS.items():
        app.add_exception_handler(kind_of_error, _telling(page, status, cache))

    def table_of(dataset: str, table: str) -> tuple[Stage, Kind]:
        stage, name = catalog.table(dataset, table)
        return stage, KINDS[name]

    @app.get("/")
    def datasets() -> Response:
        return page("datasets", root=str(catalog.root), datasets=views.datasets(catalog))

    @app.get("/d/{dataset}")
    def dataset(dataset: str) -> Response:
        frame = views.frame(catalog, dataset)
        return page("dataset", **frame, unknown=catalog.unknown(dataset), **views.states(frame["stages"]))

    @app.get("/d/{dataset}/shards/{key}")
    def shards(request: Request, dataset: str, key: str) -> Response:
        stage = catalog.stage(dataset, key)
        frame = views.frame(catalog, dataset, key)
        looks = states_of(stage.store, stage.entries, above(stage, frame["stages"]))
        shown = views.shards(looks, request.query_params, _SHARDS)
        return page("shards", **frame, stage=stage, counts=counts(looks), shown=shown)

    @app.get("/d/{dataset}/charts")
    def drawn(dataset: str) -> Response:
        return page(
            "charts", **views.frame(catalog, dataset, "charts"), charts=charts.charts(catalog.stage(dataset, "records"))
        )

    @app.get("/d/{dataset}/rows/{table}")
    def rows(request: Request, dataset: str, table: str) -> Response:
        stage, kind = table_of(dataset, table)
        wanted = asked(request.query_params, kind)
        if shard := request.query_params.get("from"):
            first = lists.page_of(stage, kind, shard)
            return RedirectResponse(f"/d/{dataset}/rows/{quote(table)}{wanted.parameters(page=first)}", 303)
        values, frame = lists.values(stage, kind), views.frame(catalog, dataset, table)
        try:
            listed = lists.page(stage, kind, wanted.query, wanted.page)
        except (QueryUnusable, SearchTooLong) as error:  # the form stays, for another try
            shown = views.nothing(stage, kind, wanted, table, values, str(error))
            return page("rows", status=_STATUS[type(error)], **frame, **shown)
        return page("rows", **frame, **views.rows(stage, kind, wanted, table, values, listed))

    @app.get("/d/{dataset}/rows/{table}/progress")
    def progress(dataset: str, table: str) -> Response:
        stage, kind = table_of(dataset, table)
        now = lists.progress(stage, kind)
        if now is None:
            raise NotThere(f"Table {table} has no index.")
        return JSONResponse({"done": now.done, "of": now.of, "complete": now.complete})

    @app.get("/d/{dataset}/rows/{table}/id/{row_id:path}")
    def by_id(dataset: str, table: str, row_id: str) -> Response:
        stage, kind = table_of(dataset, table)
        index = lists.index_of(stage, kind, row_id)
        return RedirectResponse(f"/d/{dataset}/rows/{quote(table)}/{index}", 303)

    @app.get("/d/{dataset}/rows/{table}/{index}")
    def row(request: Request, dataset: str, table: str, index: int) -> Response:
        stage, kind = table_of(dataset, table)
        wanted = asked(request.query_params, kind)
        found = lists.row(stage, kind, index, wanted.query, wanted.place)
        name, shown = row_view(stage, kind, found)
        return page(
            name,
            **views.frame(catalog, dataset, table),
            **views.around(kind, table, wanted, found, dataset),
            beside=views.beside(catalog, dataset, table, index),
            **shown,
        )

    return app


def _telling(page: Callable[..., Response], status: int, cache: Path) -> Callable[[Request, Exception], Response]:
    def tell(_: Request, error: Exception) -> Response:
        said = str(error.args[0]) if isinstance(error, LookupError) and error.args else str(error)
        if isinstance(error, sqlite3.Error):
            said = f"The index in {cache}: {said}. Make room there, or name another folder with PRIVASIS_CACHE."
        return page("error", status=status, title=_TITLES[status], message=said)

    return tell
