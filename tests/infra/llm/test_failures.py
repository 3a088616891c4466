import json

import pytest

from infra.llm.connect import Endpoint
from infra.llm.failures import raise_for_status
from infra.llm.retry import Throttled, TransientFailure
from infra.llm.types import BackendUnavailable, RequestRejected

ENDPOINT = Endpoint(model="m", base_url="http://host/v1", api_key_env="ACME_KEY")


def _raise(status: int, message: str = "no", code: str | None = None, **headers: str) -> None:
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    raise_for_status(status, named, body, ENDPOINT, now_s=0.0)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_an_invalid_request_is_rejected(status: int) -> None:
    with pytest.raises(RequestRejected, match=f"m: HTTP {status}: no"):
        _raise(status)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, "the request exceeds the available context size"),
        (500, "This model's maximum context length is 4096 tokens"),
        (429, "Request too large for m: limit 30000, requested 40000"),
        (503, "prompt is too long"),
    ],
)
def test_too_long_is_rejected_whatever_the_status(status: int, message: str) -> None:
    with pytest.raises(RequestRejected):
        _raise(status, message)


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_bad_key_names_the_variable_to_check(status: int) -> None:
    with pytest.raises(BackendUnavailable, match="ACME_KEY"):
        _raise(status)


def test_a_bad_key_behind_a_400_blames_no_row() -> None:
    with pytest.raises(BackendUnavailable, match="ACME_KEY"):
        _raise(400, "API key not valid. Please pass a valid API key.")


@pytest.mark.parametrize("status", [301, 404, 405])
def test_a_wrong_address_names_model_and_base_url(status: int) -> None:
    with pytest.raises(BackendUnavailable, match=r"'?m'?.*http://host/v1"):
        _raise(status)


@pytest.mark.parametrize(
    ("status", "code"), [(429, "insufficient_quota"), (400, "model_not_found"), (400, "unsupported_parameter")]
)
def test_faults_of_the_configuration_blame_no_row(status: int, code: str) -> None:
    with pytest.raises(BackendUnavailable):
        _raise(status, code=code)


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
def test_passing_failures_are_tried_again(status: int) -> None:
    with pytest.raises(TransientFailure) as caught:
        _raise(status, retry_after="3")
    assert (caught.value.kind, caught.value.retry_after_s) == (f"http_{status}", 3.0)


def test_a_429_throttles() -> None:
    with pytest.raises(Throttled) as caught:
        _raise(429, retry_after="20")
    assert caught.value.retry_after_s == 20.0


def test_a_body_that_is_not_json_is_quoted_short_and_on_one_line() -> None:
    with pytest.raises(TransientFailure) as caught:
        raise_for_status(502, {}, b"<html>\n<h1>Bad\ngateway</h1>" + b"x" * 1000, ENDPOINT, now_s=0.0)
    assert str(caught.value).startswith("HTTP 502: <html> <h1>Bad gateway</h1>")
    assert len(str(caught.value)) < 250
