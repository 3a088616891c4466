from flows.score_progress import Pace


def test_the_rate_is_of_the_last_minutes_and_the_rest_is_estimated_by_rows() -> None:
    pace = Pace(total=100)
    assert pace.told({}, now=0) == (0, "0 tokens")
    assert pace.told({"documents": 8, "rejected": 2, "tokens": 5000}, now=10) == (
        10,
        "5,000 tokens, 500 a second, 0:01:30 to go, 2 rejected",
    )
    for now in range(20, 300, 10):
        pace.told({"documents": 8, "tokens": 5000}, now)
    assert pace.told({"documents": 58, "tokens": 6200}, now=300) == (58, "6,200 tokens, 10 a second, 0:01:41 to go")


def test_nothing_is_said_of_a_rate_that_nobody_knows() -> None:
    pace = Pace(total=10)
    pace.told({"documents": 5, "tokens": 70}, now=0)
    assert pace.told({"documents": 5, "tokens": 70}, now=1) == (5, "70 tokens")
