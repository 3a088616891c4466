"""The limiter's books, on a clock of the test's own."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.llm.limiter import LEASE_S, Demand, Limits, Terms
from infra.llm.quotas import BURST_S, Quota, Quotas
from infra.llm.types import BackendGone

WIDE = Terms(64)


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def busy(client: str, *, open_: int = 0, waiting: int = 1000, **news: object) -> Demand:
    return Demand(client, open_, waiting, **news)  # type: ignore[arg-type]


def test_one_client_gets_the_whole_window() -> None:
    assert Limits(Clock()).exchange("s", WIDE, busy("a")).width == 64


def test_a_second_client_gets_its_half_when_the_first_has_been_told() -> None:
    limits = Limits(Clock())
    assert limits.exchange("s", WIDE, busy("a")).width == 64
    assert limits.exchange("s", WIDE, busy("b")).width == 0  # a may have opened all of them
    assert limits.exchange("s", WIDE, busy("a", open_=20)).width == 32
    assert limits.exchange("s", WIDE, busy("b")).width == 32


def test_who_wants_little_leaves_the_rest_to_the_others() -> None:
    limits = Limits(Clock())
    for _ in range(2):
        little = limits.exchange("s", WIDE, busy("a", waiting=4)).width
        much = limits.exchange("s", WIDE, busy("b", waiting=500)).width
    assert (little, much) == (4, 60)


def test_of_what_nobody_wants_a_part_is_there_for_whoever_comes_next() -> None:
    limits = Limits(Clock())
    assert limits.exchange("s", WIDE, busy("a", waiting=8)).width == 8 + 56 // 2
    assert limits.exchange("s", WIDE, busy("b", waiting=8)).width == 8 + 48 // 3  # at once: a need not come by first
    assert limits.exchange("s", WIDE, busy("c", waiting=8)).width == 64 - 36 - 24


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 40), st.booleans()), max_size=60))
def test_all_clients_together_never_have_more_open_than_the_window(steps: list[tuple[str, int, bool]]) -> None:
    """Each opens all it may at once, the worst it can do; at 429s the window shrinks below what is open."""
    limits, open_ = Limits(Clock()), dict.fromkeys("abcde", 0)
    widths = dict.fromkeys("abcde", 0)
    for client, ended, pressed in steps:
        open_[client] = max(0, open_[client] - ended)
        before = sum(open_.values())
        news = {"pressed": 1} if pressed else {}
        widths[client] = limits.exchange("s", Terms(20), busy(client, open_=open_[client], **news)).width
        open_[client] = max(open_[client], widths[client])
        assert sum(open_.values()) <= max(20, before)


def test_with_fewer_places_than_clients_everyone_has_a_turn() -> None:
    limits, begun = Limits(Clock()), dict.fromkeys("abc", 0)
    for _ in range(30):
        for client in begun:
            width = limits.exchange("s", Terms(1), busy(client, used_calls=0)).width
            begun[client] += width
            limits.exchange("s", Terms(1), busy(client, used_calls=width))
    assert min(begun.values()) >= 5


def test_a_client_that_is_lost_gives_its_places_and_permits_back() -> None:
    clock = Clock()
    limits, terms = Limits(clock), Terms(64, tokens_per_minute=6000)
    limits.exchange("s", terms, busy("first"))  # the books begin
    clock.now_s += BURST_S
    lost = limits.exchange("s", terms, busy("first", tokens_each=10))
    assert (lost.width, lost.calls) == (64, 20)  # two seconds of 100 tokens
    clock.now_s += LEASE_S
    assert limits.exchange("s", terms, busy("other", tokens_each=10)).width == 0
    clock.now_s += 0.1
    found = limits.exchange("s", terms, busy("other", tokens_each=10))
    assert (found.width, found.calls) == (64, 20)


def test_tokens_flow_at_the_rate_however_wrong_the_guesses_are() -> None:
    clock = Clock()
    limits, terms = Limits(clock), Terms(1000, tokens_per_minute=60_000)
    spent, used_calls, used_tokens = 0.0, 0, 0.0
    for _ in range(600):  # a minute of tenths
        clock.now_s += 0.1
        grant = limits.exchange("s", terms, busy("a", tokens_each=100, used_calls=used_calls, used_tokens=used_tokens))
        used_calls, used_tokens = grant.calls, grant.calls * 300.0
        spent += used_tokens
    assert spent == pytest.approx(60_000, rel=0.02)


def test_requests_flow_at_the_rate() -> None:
    clock = Clock()
    limits, terms = Limits(clock), Terms(1000, requests_per_minute=120)
    begun = used = 0
    for _ in range(600):
        clock.now_s += 0.1
        used = limits.exchange("s", terms, busy("a", used_calls=used)).calls
        begun += used
    assert begun == pytest.approx(120, abs=3)


def test_a_rate_that_nobody_configured_is_read_off_the_headers() -> None:
    clock = Clock()
    limits = Limits(clock)
    nearly_empty = Quotas(tokens=Quota(limit=60_000, left=0, reset_s=60.0))
    assert limits.exchange("s", WIDE, busy("a", tokens_each=100)).calls > 1000
    limits.exchange("s", WIDE, busy("a", tokens_each=100, used_calls=1, used_tokens=100, quotas=nearly_empty))
    clock.now_s += 1.0
    granted = limits.exchange("s", WIDE, busy("a", tokens_each=100, quotas=Quotas()))
    assert granted.calls == pytest.approx(10, abs=1)


def test_a_pause_that_one_client_is_asked_for_holds_all() -> None:
    clock = Clock()
    limits = Limits(clock)
    limits.exchange("s", WIDE, busy("a", pressed=1, pressed_age_s=0.5, retry_after_s=20.0))
    grant = limits.exchange("s", WIDE, busy("b"))
    assert (grant.width, grant.calls, grant.waits_for) == (0, 0, "the server's pause")
    clock.now_s += 20.1
    limits.exchange("s", WIDE, Demand("a", 0, 0))
    assert limits.exchange("s", WIDE, busy("b")).width == 48


def test_many_failures_without_an_answer_open_the_circuit_and_one_answer_closes_it() -> None:
    clock = Clock()
    limits = Limits(clock)
    limits.exchange("s", WIDE, busy("a", failed=64))
    assert limits.exchange("s", WIDE, busy("a")).waits_for == "a server that is down"
    clock.now_s += 1.1
    assert limits.exchange("s", WIDE, busy("a")).width == 1  # a probe
    assert limits.exchange("s", WIDE, busy("a", failed=1)).width == 0
    clock.now_s += 1.1
    assert limits.exchange("s", WIDE, busy("a")).width == 0  # twice as long this time
    clock.now_s += 1.0
    assert limits.exchange("s", WIDE, busy("a")).width == 1
    assert limits.exchange("s", WIDE, busy("a", answered=1)).width == 64


def test_a_model_that_is_gone_is_gone_for_everyone_and_the_message_travels() -> None:
    limits = Limits(Clock())
    gone = BackendGone("m: HTTP 401: check the key", "m")
    limits.exchange("s", WIDE, busy("a", gone=gone))
    told = limits.exchange("s", WIDE, busy("b")).gone
    assert str(told) == "m: HTTP 401: check the key"
    again = pickle.loads(pickle.dumps(told))
    assert (str(again), again.model) == (str(told), "m")
    assert limits.exchange("another", WIDE, busy("b")).gone is None


def test_a_new_limiter_goes_on_with_what_clients_tell_it() -> None:
    clock = Clock()
    limits = Limits(clock)
    grant = limits.exchange("s", Terms(64, tokens_per_minute=60_000), busy("a", open_=50, used_tokens=500.0))
    assert (grant.width, grant.calls) == (64, 0)  # no second burst, and what was used is charged
