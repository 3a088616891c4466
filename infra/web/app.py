"""Makes a local web application: guarded, with the shared style and script, and pages for what goes wrong."""

from collections.abc import Collection
from http import HTTPStatus
from importlib.resources import files

import jinja2
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from infra.web.access import Access
from infra.web.guard import READ_ONLY, Guard


def create_web_app(
    name: str,
    access: Access,
    templates: jinja2.Environment,
    *,
    static_of: str | None = None,
    methods: Collection[str] = READ_ONLY,
) -> FastAPI:
    """Return an application without routes of its own.

    Args:
        name: shown in the head of each page.
        access: who may see it.
        templates: see ``web_templates``; ``error.html.jinja`` is among them.
        static_of: a package whose folder ``static`` is served under ``/own/``; the shared one is under ``/static/``.
        methods: that are taken; others than GET and HEAD only from our own pages.
    """
    templates.globals["app"] = name
    app = FastAPI(title=name, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Guard, access=access, methods=methods)
    app.mount("/static", _Static(packages=[("infra.web", "static")]))
    if static_of is not None:
        app.mount("/own", _Static(packages=[(static_of, "static")]))

    def page(status: int, message: str) -> Response:
        title = HTTPStatus(status).phrase
        return HTMLResponse(templates.get_template("error.html.jinja").render(title=title, message=message), status)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return page(error.status_code, str(error.detail))

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return page(422, f"{first['loc'][-1]}: {first['msg']}")

    return app


class _Static(StaticFiles):
    """Files of packages; browsers ask each time whether they have changed."""

    def __init__(self, packages: list[tuple[str, str]]) -> None:
        for package, folder in packages:
            if not files(package).joinpath(folder).is_dir():
                raise ValueError(f"package {package} has no folder {folder}")
        super().__init__(packages=list(packages))

    def file_response(self, *args: object, **keywords: object) -> Response:
        response = super().file_response(*args, **keywords)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response
