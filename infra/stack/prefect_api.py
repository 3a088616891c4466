"""The few calls of Prefect's REST API that a supervisor needs; importing Prefect for them would take two seconds."""

import base64
import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

_TIMEOUT_S = 10.0
_PAGE = 200  # the most that Prefect gives at once


class ApiRefused(Exception):
    """The server answered that it will not; the message has its words."""


class ApiAway(Exception):
    """No answer, or one that says: later."""


@dataclass(frozen=True)
class PrefectApi:
    """A Prefect server's REST API.

    Attributes:
        url: ends in ``/api``.
        auth: ``user:password``.
    """

    url: str
    auth: str = field(repr=False)

    def is_up(self) -> bool:
        """Tell whether the server answers, and lets us in."""
        try:
            self.get("/health")
        except (ApiAway, ApiRefused):
            return False
        return True

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """Return what is at ``path``.

        Raises:
            ApiAway: no server answers.
            ApiRefused: it answers with an error.
        """
        return self._ask("GET", path, None)

    def post(self, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        """Send ``body`` to ``path`` and return the answer.

        Raises:
            ApiAway: no server answers.
            ApiRefused: it answers with an error.
        """
        return self._ask("POST", path, body)

    def send(self, method: str, path: str, body: object) -> None:
        """Do the same with another method."""
        self._ask(method, path, body)

    def flow_runs(self, pool: str, states: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return the flow runs of a work pool whose state has one of these types, the oldest first."""
        asked = {"flow_runs": {"state": {"type": {"any_": list(states)}}}, "work_pools": {"name": {"any_": [pool]}}}
        return self._pages("/flow_runs/filter", asked | {"sort": "START_TIME_ASC"})

    def crashed(self, since: datetime) -> list[dict[str, Any]]:
        """Return the flow runs that crashed after ``since``, the oldest first."""
        recent = {"state": {"type": {"any_": ["CRASHED"]}}, "end_time": {"after_": since.isoformat()}}
        return self._pages("/flow_runs/filter", {"flow_runs": recent, "sort": "START_TIME_ASC"})

    def deployments(self) -> list[dict[str, Any]]:
        """Return what there is of deployments, with their schedules."""
        return self._pages("/deployments/filter", {})

    def open_task_runs(self, ended_before: datetime) -> list[dict[str, Any]]:
        """Return task runs (some, if they are many) that have not ended, of flow runs that had by then."""
        ended = {"type": {"any_": ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]}}
        asked = {
            "task_runs": {"state": {"type": {"any_": ["PENDING", "RUNNING"]}}},
            "flow_runs": {"state": ended, "end_time": {"before_": ended_before.isoformat()}},
            "limit": _PAGE,
        }
        found: list[dict[str, Any]] = self.post("/task_runs/filter", asked)
        return found

    def _pages(self, path: str, asked: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while page := self.post(path, asked | {"limit": _PAGE, "offset": len(found)}):
            found += page
        return found

    def set_state(self, flow_run: str, kind: str, message: str, *, name: str | None = None, force: bool = False) -> str:
        """Ask for a state of a flow run, and return what the server made of it: ACCEPT, REJECT, WAIT or ABORT."""
        state = {"type": kind, "name": name or kind.title(), "message": message}
        answer = self.post(f"/flow_runs/{flow_run}/set_state", {"state": state, "force": force})
        return str(answer["status"])

    def _ask(self, method: str, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": "Basic " + base64.b64encode(self.auth.encode()).decode(),
                "Content-Type": "application/json",
            },
            method=method,
        )
        try:
            with _direct.open(request, timeout=_TIMEOUT_S) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            if error.code in (429, 502, 503):
                raise ApiAway(f"{method} {path}: HTTP {error.code}: {text}") from error
            raise ApiRefused(f"{method} {path}: HTTP {error.code}: {text}") from error
        except (OSError, http.client.HTTPException) as error:
            raise ApiAway(f"{method} {path}: {error}") from error
        return json.loads(content) if content else None


_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy would be asked for our own server
