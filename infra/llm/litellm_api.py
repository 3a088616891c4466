"""Chat through litellm, for providers that do not speak the OpenAI protocol: the extra ``litellm``.

litellm translates; limits, retries, money and what an error means stay ours. Its import takes seconds and would ask the
network for a price map, so it happens here and only when such an endpoint is connected to.
"""

import asyncio
import importlib.metadata
import os
import time
import warnings
from typing import Any, Self

import openai
import orjson

from infra.llm.connect import Endpoint
from infra.llm.failures import raise_for_status
from infra.llm.lengths import Lengths
from infra.llm.limits import Limit
from infra.llm.retry import CallCounters, Retrier, RetryPolicy, TimedOut, TransientFailure
from infra.llm.types import BackendGone, Reply, Request
from infra.llm.wire import chat_body, read_reply
from infra.packages import PackageMissing

# Releases that must not run: see "Models" in the design document.
REFUSED = ("1.82.7", "1.82.8", "1.107")
INSTALL = "pip install 'privasis-factory[litellm]'"


def load_litellm() -> Any:  # noqa: ANN401 - its types cost a second import
    """Import litellm without its network access, and refuse releases that must not run.

    Raises:
        PackageMissing: it is not installed, or in a version that must not be used.
    """
    try:
        version = importlib.metadata.version("litellm")
    except importlib.metadata.PackageNotFoundError as error:
        raise PackageMissing(f"litellm is not installed: {INSTALL}") from error
    if any(version == bad or version.startswith(f"{bad}.") for bad in REFUSED):
        raise PackageMissing(f"litellm {version} must not be used: {INSTALL}")
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # read while it is imported
    # It warns about its own classes, some imported with the first call: nobody here can do anything about that.
    warnings.filterwarnings("ignore", message="Items .* using the `ReadOnly` qualifier")
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


class LiteLLMBackend:
    """A chat model that litellm knows how to reach, named as litellm names it: ``anthropic/...``, ``bedrock/...``.

    ``counters`` tells how many tries its calls took.

    Raises:
        PackageMissing: litellm is not installed, or in a version that must not be used.
    """

    def __init__(self, endpoint: Endpoint, key: str, limit: Limit) -> None:
        self._endpoint, self._key, self._limit = endpoint, key, limit
        self._litellm = load_litellm()
        self._lengths = Lengths()
        policy = RetryPolicy(max_attempts=endpoint.max_attempts, max_wait_s=endpoint.max_wait_s)
        self._retrier = Retrier(endpoint.model, policy, limit)

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._endpoint.model

    @property
    def counters(self) -> CallCounters:
        """Tries, answers and failures so far."""
        return self._retrier.counters

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``, after retries where they can help.

        Raises:
            RequestRejected: the request can never work.
            BackendUnavailable: no answer after the retries, or the configuration is wrong.
        """

        async def ask() -> Reply:
            sent_at = time.monotonic()
            answer = await self._send(request)
            latency_s = time.monotonic() - sent_at
            return read_reply(answer, self._endpoint, wants_json=request.schema is not None, latency_s=latency_s)

        return await self._retrier.call(ask, self._lengths.size_of(request))

    async def _send(self, request: Request) -> bytes:
        """Make one try and return the answer as a body of the OpenAI protocol.

        Raises:
            TransientFailure: no answer, or one that another try may better.
            RequestRejected: the provider will never take this request.
            BackendGone: it will take none.
        """
        timeout_s = self._endpoint.request_timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._litellm.acompletion(
                    **chat_body(request, self._endpoint),
                    api_base=self._endpoint.base_url,
                    api_key=self._key,
                    timeout=timeout_s,
                    max_retries=0,
                    num_retries=0,
                )
        except self._litellm.exceptions.UnsupportedParamsError as error:
            flags = "see the capability flags of the endpoint"
            raise BackendGone(
                f"{self.model}: the provider does not take a parameter: {flags} ({error})", self.model
            ) from error
        except (TimeoutError, openai.APITimeoutError) as error:
            raise TimedOut("timeout", f"no answer within {timeout_s:g} s") from error
        except openai.APIConnectionError as error:
            raise TransientFailure("connection", f"{type(error).__name__}: {error}") from error
        except openai.APIError as error:  # litellm's errors are the SDK's, with the status they stand for
            status = int(getattr(error, "status_code", 500))
            headers = getattr(getattr(error, "response", None), "headers", {})
            body = orjson.dumps({"error": {"message": error.message, "code": error.code}})
            raise_for_status(status, headers, body, self._endpoint, time.time())
        return orjson.dumps(answer.model_dump(mode="json"))

    async def __aenter__(self) -> Self:
        await self._limit.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._limit.close()
        await self._litellm.close_litellm_async_clients()
