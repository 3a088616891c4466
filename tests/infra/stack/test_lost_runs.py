import pytest

from infra.stack.lost_runs import crashes_of, was_being_cancelled


@pytest.mark.parametrize(
    ("states", "so"),
    [
        (["SCHEDULED", "PENDING", "RUNNING", "CRASHED"], False),
        (["SCHEDULED", "PENDING", "RUNNING", "CANCELLING", "CRASHED"], True),
        (["SCHEDULED", "PENDING", "CANCELLING", "CRASHED"], True),
        (["RUNNING", "CANCELLING", "CANCELLED", "SCHEDULED", "PENDING", "RUNNING", "CRASHED"], False),
        ([], False),
    ],
)
def test_only_the_last_attempt_tells_whether_a_crash_was_a_cancelling(states: list[str], so: bool) -> None:
    assert was_being_cancelled(states) is so


def test_a_crash_that_is_told_twice_is_one_and_one_before_the_start_counts() -> None:
    assert crashes_of([]) == 0
    assert crashes_of(["SCHEDULED", "PENDING", "CRASHED"]) == 1
    assert crashes_of(["RUNNING", "CRASHED", "CRASHED", "SCHEDULED", "PENDING", "RUNNING", "CRASHED"]) == 2
