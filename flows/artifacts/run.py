"""Which run this process works for, as Prefect sees it."""

import re

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext

_NOT_IN_A_KEY = re.compile(r"[^a-z0-9]+")


def key_of(*parts: str) -> str:
    """Return the key of an artifact: all runs that tell the same of the same things make versions of one artifact."""
    return "-".join(_NOT_IN_A_KEY.sub("-", part.lower()).strip("-") for part in parts)


def is_deployed() -> bool:
    """Whether a deployment's run is under way here: it is watched on the server's pages, others in a terminal."""
    context = FlowRunContext.get()
    return context is not None and context.flow_run is not None and context.flow_run.deployment_id is not None


def is_being_cancelled() -> bool:
    """Whether somebody has told the server to cancel the run that is under way here.

    Raises:
        httpx.HTTPError: the server does not answer.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return False
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(context.flow_run.id).state
    return state is not None and state.is_cancelling()
