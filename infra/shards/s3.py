"""The client for object stores that speak the S3 protocol, and what their errors mean.

Credentials, region and endpoint come from where every AWS tool looks: environment, profile, role of the machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from infra.packages import PackageMissing
from infra.shards.location import ObjectPath

ATTEMPTS = 11  # of a request, by the client: half a minute as a rule, for it waits 50 ms at first and doubles that
CONNECT_WITHIN_S = 5.0
ANSWER_WITHIN_S = 30.0
CONNECTIONS = 64

_REGION = {  # as every other tool of AWS has it; botocore by itself reads the second name alone
    "region": ("region", ["AWS_REGION", "AWS_DEFAULT_REGION"], None, None)
}

_PASSES = frozenset(  # as a rule, and the client has tried again already
    ("SlowDown", "Throttling", "ThrottlingException", "TooManyRequests", "RequestTimeout", "OperationAborted")
)
_ADVICE = {
    "NoSuchBucket": "there is no such bucket: create it, or correct the root",
    "InvalidAccessKeyId": "the store does not know this access key: look at AWS_ACCESS_KEY_ID or the profile",
    "SignatureDoesNotMatch": "the secret key does not fit the access key: look at AWS_SECRET_ACCESS_KEY",
    "ExpiredToken": "the session has expired: log in again",
    "AccessDenied": "these credentials may not do this: the policy must allow s3:GetObject, s3:PutObject,"
    " s3:DeleteObject and s3:ListBucket",
    "AllAccessDisabled": "the bucket is closed",
    "RequestTimeTooSkewed": "this machine's clock is wrong: set it",
    "PermanentRedirect": "the bucket is in another region: set AWS_REGION",
    "AuthorizationHeaderMalformed": "the bucket is in another region: set AWS_REGION",
    "NotImplemented": "the store cannot do this; it must support conditional writes (If-None-Match, If-Match)",
}
_ADVICE |= {"403": _ADVICE["AccessDenied"], "301": _ADVICE["PermanentRedirect"]}


class StorageUnavailable(Exception):
    """The object store does not answer, or is too busy: what was done stays, try again later."""


class WriteConflict(StorageUnavailable):
    """Two conditional writes of one object met; neither may have won."""


class StorageRefused(Exception):
    """The object store answers, and will not do this until a person changes something; the message says what."""


class PreconditionFailed(Exception):
    """A conditional write found another state than the one it was meant for.

    Attributes:
        was_retried: an earlier try of the same request may have been the one that changed the state.
    """

    def __init__(self, *, was_retried: bool) -> None:
        super().__init__()
        self.was_retried = was_retried


@lru_cache(maxsize=1)
def client() -> Any:  # noqa: ANN401 - made at run time, from a description
    """Return the client of this process; threads may share it.

    Raises:
        PackageMissing: the extra is not installed.
        StorageRefused: what the environment or ~/.aws says makes no client.
    """
    try:
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError as error:
        raise PackageMissing("a root of s3:// needs package botocore: pip install 'privasis-factory[s3]'") from error
    try:
        return _made()
    except (BotoCoreError, ValueError) as error:  # ValueError: no URL, no number
        raise StorageRefused(
            f"no client for s3:// can be made ({error}): correct the variables AWS_* (AWS_ENDPOINT_URL_S3 is a whole"
            " URL, https://HOST:PORT) or ~/.aws"
        ) from error


def _made() -> Any:  # noqa: ANN401 - made at run time, from a description
    from botocore.config import Config
    from botocore.session import get_session

    session = get_session(_REGION)
    retries: dict[str, object] = {"mode": "standard"}
    if session.get_config_variable("max_attempts") is None:
        retries["total_max_attempts"] = ATTEMPTS
    config = Config(
        retries=retries,
        connect_timeout=CONNECT_WITHIN_S,
        read_timeout=ANSWER_WITHIN_S,
        max_pool_connections=CONNECTIONS,
    )
    return session.create_client("s3", config=config)


@contextmanager
def asking(path: ObjectPath) -> Iterator[None]:
    """Say in our own terms what went wrong in the block; ``path`` is what it was about.

    Raises:
        PreconditionFailed: a conditional write was too late.
        FileNotFoundError: there is no such object.
        StorageUnavailable: no answer, or too many requests.
        StorageRefused: credentials, rights, bucket, region, or something that the store cannot do.
    """
    client()  # says so if there can be none
    from botocore import exceptions as aws

    try:
        yield
    except aws.ClientError as error:
        raise _meaning(path, error.response) from error
    except (aws.NoCredentialsError, aws.CredentialRetrievalError, aws.SSOError, aws.TokenRetrievalError) as error:
        raise StorageRefused(
            f"{path}: no usable credentials ({error}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE,"
            " (an SSO profile: log in again), or give this machine a role"
        ) from error
    except (aws.NoRegionError, aws.ParamValidationError) as error:
        raise StorageRefused(f"{path}: {error}") from error
    except aws.BotoCoreError as error:  # the rest are failures on the way: no name, no connection, no answer in time
        raise StorageUnavailable(
            f"{path}: {client().meta.endpoint_url} does not answer ({error}): try again when it does, or correct"
            " AWS_ENDPOINT_URL_S3; the run goes on where it stood"
        ) from error


def _meaning(path: ObjectPath, response: Any) -> Exception:  # noqa: ANN401 - as the client has parsed it
    told, about = response.get("Error", {}), response.get("ResponseMetadata", {})
    code, status = str(told.get("Code", "")), int(about.get("HTTPStatusCode", 0))
    if status == 412 or code == "PreconditionFailed":
        return PreconditionFailed(was_retried=about.get("RetryAttempts", 0) > 0)
    if code in ("NoSuchKey", "404", "NotFound"):
        return FileNotFoundError(f"{path}: is not there")
    text = f"{path}: {client().meta.endpoint_url} answers {status} {code}"
    if code == "ConditionalRequestConflict" or status == 409:
        return WriteConflict(f"{text}: another write of the same object was under way: later the run goes on")
    if code in _PASSES or status == 429 or (status >= 500 and status != 501):
        return StorageUnavailable(f"{text}, after {about.get('RetryAttempts', 0)} tries: later the run goes on")
    return StorageRefused(f"{text}: {_ADVICE.get(code) or told.get('Message') or 'it does not say why'}")
