"""The HTTP service: single and bulk cleaning, health, metrics. Its answers to errors never quote a request."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from infra.service.access import bearer
from infra.service.body_limit import BodyLimit
from infra.service.callers import GONE, CallerGone, while_awaited
from infra.service.cleaner import TIMEOUT, UNAVAILABLE, Failure, ServedCleaner
from infra.service.gate import Full, Gate, WaitedTooLong
from infra.service.limits import ServiceLimits
from infra.service.metrics import ServiceMetrics
from infra.service.wire import (
    BatchAnswer,
    BatchBody,
    CleanAnswer,
    CleanItem,
    ErrorBody,
    Health,
    ItemAnswer,
    too_much,
)

_FIELDS = {"body", "query", "path", "header", *CleanItem.model_fields, *BatchBody.model_fields, "key", "value"}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": description}
    for status, description in {
        401: "No token, or a wrong one",
        413: "The body is too large",
        422: "Not such a request, or a text that is too long",
        429: "Too many requests wait: come again after `Retry-After` seconds",
        502: "The model gave no clean text: nothing is passed on",
        503: "The model does not answer: come again after `Retry-After` seconds",
        504: "It took too long",
    }.items()
}


def create_app(
    cleaner: ServedCleaner,
    limits: ServiceLimits,
    *,
    token: str | None,
    loopback: bool,
) -> FastAPI:
    """Return the service.

    Args:
        cleaner: who cleans.
        limits: see there.
        token: that callers have to show; None for none.
        loopback: whether it is bound there: then requests to other host names are refused, which web pages send that
            want to reach a person's own machine.
    """
    gate = Gate(limits)
    metrics = ServiceMetrics(lambda: gate.inside)
    protected = [Depends(bearer(token))]
    app = FastAPI(
        title="privasis clean",
        summary="Cleans texts as an instruction asks; passes nothing on that is not clean.",
        docs_url="/docs",
        redoc_url=None,
    )
    app.add_middleware(BodyLimit, body_bytes=limits.body_bytes)
    if loopback:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "[::1]"])
    app.middleware("http")(_counting(metrics))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    retry = {"Retry-After": str(limits.retry_after_s)}

    async def cleaned(request: Request, items: tuple[CleanItem, ...]) -> list[CleanAnswer | Failure]:
        over = next(((number, said) for number, item in enumerate(items) if (said := too_much(item, limits))), None)
        if over is not None:
            raise HTTPException(422, f"item {over[0]}: {over[1]}")
        deadline = asyncio.get_running_loop().time() + limits.seconds

        async def work() -> list[CleanAnswer | Failure]:
            async with gate.turn(deadline):
                return await cleaner.clean(items, deadline)

        try:
            outcomes = await while_awaited(request, work)
        except CallerGone as error:
            raise HTTPException(GONE, "nobody waits for the answer") from error
        except Full as error:
            raise HTTPException(429, "too many requests wait already", headers=retry) from error
        except WaitedTooLong as error:
            raise HTTPException(504, f"no turn came within {limits.seconds:g} s") from error
        for outcome in outcomes:
            metrics.texts.labels(outcome.reason if isinstance(outcome, Failure) else "clean").inc()
        return outcomes

    @app.post("/v1/clean", dependencies=protected, responses=_ERRORS)
    async def clean(request: Request, item: CleanItem) -> CleanAnswer:
        """Clean one text."""
        (outcome,) = await cleaned(request, (item,))
        if isinstance(outcome, Failure):
            raise _failed(outcome, retry)
        return outcome

    @app.post("/v1/clean/batch", dependencies=protected, responses=_ERRORS)
    async def clean_batch(request: Request, body: BatchBody) -> BatchAnswer:
        """Clean several texts: each has an outcome of its own, and one that fails takes no other with it."""
        if len(body.items) > limits.batch_items:
            raise HTTPException(422, f"items: {len(body.items)}, at most {limits.batch_items} are taken")
        outcomes = await cleaned(request, body.items)
        failures = [each for each in outcomes if isinstance(each, Failure)]
        if len(failures) == len(outcomes) and {each.reason for each in failures} == {UNAVAILABLE}:
            raise _failed(failures[0], retry)
        return BatchAnswer(items=tuple(map(_item, outcomes)))

    @app.get("/health", responses={503: {"model": Health, "description": "The model does not answer"}})
    async def health(response: Response) -> Health:
        """Tell whether the service is ready: 200, or 503."""
        ready = await cleaner.ready()
        response.status_code = 200 if ready else 503
        return Health(ready=ready, model=cleaner.model, at_once=min(cleaner.at_once, limits.at_once))

    @app.get("/metrics", dependencies=protected, response_class=Response)
    async def prometheus() -> Response:
        """Counts in the Prometheus format."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


def _item(outcome: CleanAnswer | Failure) -> ItemAnswer:
    if isinstance(outcome, Failure):
        return ItemAnswer(status="failed", error=ErrorBody(error=outcome.reason, message=outcome.message))
    return ItemAnswer(status="clean", clean=outcome)


def _failed(failure: Failure, retry: dict[str, str]) -> HTTPException:
    status = {TIMEOUT: 504, UNAVAILABLE: 503}.get(failure.reason, 422 if failure.ours else 502)
    headers = retry if status == 503 else {}
    return HTTPException(status, failure.message, headers={"X-Reason": failure.reason, **headers})


_NAMES = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 413: "too_large", 422: "invalid"}
_NAMES |= {429: "busy", GONE: "gone", 504: TIMEOUT}
# What FastAPI says of a body that is no JSON in a way its parser has no name for: bytes that are no UTF-8, nesting
# beyond measure, a number of thousands of digits. It is malformed like any other.
_UNREADABLE, _MALFORMED = 400, 422


async def _http_error(_: Request, error: Exception) -> Response:
    """Answer with the reason, in the form of ``ErrorBody``."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == _UNREADABLE:
        return _malformed("body: json_invalid")
    name = headers.pop("X-Reason", None) or _NAMES.get(error.status_code, "refused")
    body = ErrorBody(error=name, message=str(error.detail)).model_dump()
    return JSONResponse(body, error.status_code, headers=headers)


async def _invalid(request: Request, error: Exception) -> Response:
    """Say where a request is wrong and how; names and values that the caller made up are left out."""
    assert isinstance(error, RequestValidationError)
    faults = [
        f"{'.'.join(str(part) if isinstance(part, int) or part in _FIELDS else '?' for part in each['loc'])}:"
        f" {each['type']}"
        for each in error.errors()[:8]
    ]
    if "json" not in request.headers.get("Content-Type", ""):
        faults.append("send it with Content-Type: application/json")
    return _malformed("; ".join(faults))


def _malformed(message: str) -> Response:
    return JSONResponse(ErrorBody(error="invalid", message=message).model_dump(), _MALFORMED)


def _counting(metrics: ServiceMetrics) -> Callable[[Request, Callable[[Request], Awaitable[Response]]], Any]:
    async def count(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        began = time.monotonic()
        response = await call_next(request)
        route = request.scope.get("route")
        path = getattr(route, "path", "other")  # of the route, not of the request: those are without number
        metrics.responses.labels(path, str(response.status_code)).inc()
        metrics.seconds.labels(path).observe(time.monotonic() - began)
        return response

    return count
