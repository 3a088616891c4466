from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.limits import RateLimits
from tests.infra.engines.simulator.conftest import Serve


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_requests_flow_at_the_asked_rate() -> None:
    clock = Clock()
    limits = RateLimits(SimulatorConfig(requests_per_second=2), clock)
    assert [limits.admit(10) for _ in range(3)] == [0, 0, 0.5]
    clock.now_s = 0.5
    assert [limits.admit(10) for _ in range(2)] == [0, 0.5]


def test_tokens_of_an_answer_are_charged_afterwards() -> None:
    clock = Clock()
    limits = RateLimits(SimulatorConfig(tokens_per_minute=600), clock)  # ten a second
    assert limits.admit(500) == 0
    limits.charge(300)  # 200 below zero
    assert limits.admit(100) == 30
    clock.now_s = 30
    assert limits.admit(100) == 0


def test_a_charge_after_a_pause_meets_a_full_bucket_and_no_more() -> None:
    clock = Clock()
    limits = RateLimits(SimulatorConfig(tokens_per_minute=600), clock)
    limits.admit(100)
    clock.now_s = 1000
    limits.charge(600)
    assert limits.admit(10) == 1


def test_a_prompt_above_the_limit_is_let_in_when_nothing_else_runs() -> None:
    assert RateLimits(SimulatorConfig(tokens_per_minute=600), Clock()).admit(5000) == 0


def test_without_limits_nothing_is_said_of_them() -> None:
    assert RateLimits(SimulatorConfig(), Clock()).headers() == {}


async def test_what_is_above_the_limit_is_answered_429_with_the_usual_headers(serve: Serve) -> None:
    client = await serve(requests_per_second=1, tokens_per_minute=1e6)
    answers = [await client.post("v1/chat/completions", client.body("Hello", seed=seed)) for seed in range(2)]
    assert [status for status, _, _ in answers] == [200, 429]
    _, headers, answer = answers[1]
    assert headers["Retry-After"] == "1"
    assert headers["x-ratelimit-limit-requests"] == "1"
    assert headers["x-ratelimit-remaining-requests"] == "0"
    assert 0 < float(headers["x-ratelimit-reset-requests"].removesuffix("s")) <= 1
    assert answer["error"]["code"] == "rate_limit_exceeded"
    assert (await client.statistics())["answers"] == {"ok": 1, "over_limit": 1}
