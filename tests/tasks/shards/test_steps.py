"""Which failures of a shard are worth another try."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from prefect.states import Failed

from infra.llm.types import BackendGone, BackendUnavailable
from tasks.shards.steps import worth_another_try

NO_TASK: Any = None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BackendUnavailable("HTTP 503"), True),
        (BackendGone("set the environment variable ACME_KEY", "m"), False),  # nobody has set it in the meantime
        (ValueError("a bug"), False),
    ],
)
def test_only_trouble_that_passes_is_tried_again(error: Exception, expected: bool) -> None:
    shard = cast(Any, SimpleNamespace(name="part-0", run_count=1))
    assert worth_another_try(NO_TASK, shard, Failed(data=error)) is expected
