"""A client of the service: clean texts of a cleaner that runs already, wherever that is."""

import asyncio
import os
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

import aiohttp
from pydantic import ValidationError

from infra.llm.types import BackendUnavailable
from infra.service.cleaner import Failure
from infra.service.wire import CleanAnswer, ErrorBody, Health

_TIMEOUT_S = 600.0  # of one request, its waiting in the service included
_PAUSE_S = 2.0  # where a refusal does not say how long to wait
TOKEN_ENV = "PRIVASIS_TOKEN"  # variable with the token, where the service wants one
_PASSING = (429, 502, 503, 504)  # statuses that say: not now; 502 where a proxy says it
_TEXT = (422, 502)  # statuses by which the service says: not this text
_NOT_OURS = "unknown"


@dataclass
class ServiceClient:
    """Asks a service to clean texts.

    Attributes:
        url: as `privasis serve` tells it.
        at_once: texts in its hands, as its health tells it: those that only wait would have less time for themselves.
        attempts: of a request that is turned away for the moment.
    """

    url: str
    at_once: int = 1
    attempts: int = 5
    _turns: asyncio.Semaphore = field(init=False)
    _session: aiohttp.ClientSession | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._turns = asyncio.Semaphore(self.at_once)

    async def clean(self, text: str, instruction: str) -> CleanAnswer | Failure:
        """Return the clean text, or why there is none.

        Raises:
            BackendUnavailable: the service, or its model, does not answer, or does not let us in.
        """
        said = ""
        async with self._turns:
            for _ in range(self.attempts):
                status, body, wait_s = await self._post({"text": text, "instruction": instruction})
                if status == 200:
                    return self._clean(body)
                error = _error(body)
                said = f"HTTP {status} {error}"
                if status in _TEXT and error != _NOT_OURS:
                    return Failure(error, "the service gave no clean text", ours=status == 422)
                if status == 401:
                    raise BackendUnavailable(f"{self.url}: wants a token: put it into {TOKEN_ENV}")
                if status not in _PASSING:
                    break
                await asyncio.sleep(wait_s)
        raise BackendUnavailable(f"{self.url}: {said}")

    def _clean(self, body: bytes) -> CleanAnswer:
        try:
            return CleanAnswer.model_validate_json(body)
        except ValidationError:  # without its message, which quotes the body
            raise BackendUnavailable(f"{self.url}: answers, but is no `privasis serve`") from None

    async def _post(self, body: dict[str, str]) -> tuple[int, bytes, float]:
        if self._session is None:
            raise RuntimeError(f"{self.url}: use the client within `async with`")
        try:
            async with self._session.post(f"{_base(self.url)}/v1/clean", json=body) as answer:
                said = answer.headers.get("Retry-After", "")
                return answer.status, await answer.read(), float(said) if said.isdecimal() else _PAUSE_S
        except (aiohttp.ClientError, TimeoutError) as error:
            raise BackendUnavailable(f"{self.url}: does not answer ({type(error).__name__})") from error

    async def __aenter__(self) -> Self:
        self._session = _session()
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._session is not None:
            await self._session.close()


def health_of(url: str) -> Health:
    """Ask a service which model it cleans with.

    Raises:
        BackendUnavailable: nothing answers there, it is no such service, or its model does not answer.
    """
    return asyncio.run(_health_of(url))


async def _health_of(url: str) -> Health:
    try:
        async with _session() as session, session.get(f"{_base(url)}/health") as answer:
            health = Health.model_validate_json(await answer.read())
    except (aiohttp.ClientError, TimeoutError) as error:
        raise BackendUnavailable(
            f"{url}: nothing answers ({type(error).__name__}): start `privasis serve --model ...`, and give the"
            " address that it tells"
        ) from error
    except ValidationError as error:
        raise BackendUnavailable(f"{url}: answers, but is no `privasis serve`") from error
    if not health.ready:
        raise BackendUnavailable(f"{url}: its model {health.model} does not answer: look at the service")
    return health


def _session() -> aiohttp.ClientSession:
    token = os.environ.get(TOKEN_ENV)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=_TIMEOUT_S))


def _base(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _error(body: bytes) -> str:
    """Return the short name of an error; what another program answers has none."""
    try:
        return ErrorBody.model_validate_json(body).error
    except ValidationError:
        return _NOT_OURS
