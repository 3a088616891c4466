"""Which run this process works for, as Prefect sees it, and what becomes of it when Prefect does not listen."""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.exceptions import PrefectHTTPStatusError

logger = logging.getLogger(__name__)

UNHEARD = (httpx.HTTPError, PrefectHTTPStatusError)  # no server answers, or it does not take what it is told
_STARTED_FOR = "PREFECT__FLOW_RUN_ID"  # what a worker starts the process of a run with
_NOT_IN_A_KEY = re.compile(r"[^a-z0-9]+")


def key_of(*parts: str) -> str:
    """Return the key of an artifact: all runs that tell the same of the same things make versions of one artifact."""
    return "-".join(_NOT_IN_A_KEY.sub("-", part.lower()).strip("-") for part in parts)


def is_deployed() -> bool:
    """Whether a deployment's run is under way here: it is watched on the server's pages, others in a terminal.

    The flows that such a run calls are part of it, though Prefect names no deployment of theirs.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return False
    return context.flow_run.deployment_id is not None or _STARTED_FOR in os.environ


@contextmanager
def artifact_only(what: str) -> Iterator[None]:
    """Let what the run has made count for more than its page: one that Prefect does not take is a warning.

    Args:
        what: the artifact.
    """
    try:
        yield
    except UNHEARD as error:
        logger.warning("the run's page lacks its %s, Prefect did not take it: %s", what, error)


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
