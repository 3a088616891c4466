import json
import re
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from infra.histogram import SECONDS, TOKENS, Histogram, Spread
from infra.metrics import LOOPBACK, RunCollector, served
from infra.run_state import Money, RunState, ServerState, ShardCounts, StepState, WorkerState
from infra.shards.owner import Owner

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "privasis.json"
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def spread(bounds: tuple[float, ...], *values: float) -> Spread:
    histogram = Histogram(bounds)
    for value in values:
        histogram.add(value)
    return histogram.spread()


STATE = RunState(
    dataset="records",
    stage="triplets",
    owner=Owner.here(),
    began_at=MOMENT,
    written_at=MOMENT,
    metrics_url="http://127.0.0.1:1/metrics",
    rows=100,
    done={"records": 20, "quarantined": 5},
    eta_s=150.0,
    money=Money(spent_usd=1.5, projected_usd=6.0, limit_usd=5.0),
    shards=ShardCounts(committed=2, running=1, waiting=7, held=4),
    shard_waits={"worker": 7},
    workers=(
        WorkerState(index=0, answers=True, waits={"engine": 4, "rate limit": 3}),
        WorkerState(index=1, answers=True, waits={"engine": 1}, oldest_s=12.5),
        WorkerState(index=2, answers=False),
    ),
    servers=(ServerState(server="OpenAI gpt", open=5, waiting=3, width=8, waits_for="the rate limit"),),
    steps=(
        StepState(
            step="draft",
            model="gpt",
            seconds=spread(SECONDS, 0.3, 700.0),
            answering=spread(SECONDS, 0.2, 0.2),
            prompt=spread(TOKENS, 100, 200),
            completion=spread(TOKENS, 16, 17),
        ),
    ),
    failures={"gpt": {"http_429": 9}},
)


def samples_of(state: RunState | None) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    registry = CollectorRegistry()
    registry.register(RunCollector(lambda: state))
    return {
        (sample.name, frozenset(sample.labels.items()) - {("dataset", "records"), ("stage", "triplets")}): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("privasis_rows_total", {"outcome": "records"}, 20),
        ("privasis_rows_total", {"outcome": "quarantined"}, 5),
        ("privasis_rows_wanted", {}, 100),
        ("privasis_eta_seconds", {}, 150),
        ("privasis_heartbeat_timestamp_seconds", {}, MOMENT.timestamp()),
        ("privasis_shards", {"state": "waiting"}, 7),
        ("privasis_shards", {"state": "held"}, 4),
        ("privasis_shards_waiting", {"on": "worker"}, 7),
        ("privasis_workers", {"answers": "no"}, 1),
        ("privasis_waiting", {"worker": "0", "on": "rate limit"}, 3),
        ("privasis_waiting", {"worker": "1", "on": "rate limit"}, 0),
        ("privasis_oldest_call_seconds", {"worker": "1"}, 12.5),
        ("privasis_server_open_calls", {"server": "OpenAI gpt"}, 5),
        ("privasis_server_queued_calls", {"server": "OpenAI gpt"}, 3),
        ("privasis_server_places", {"server": "OpenAI gpt"}, 8),
        ("privasis_failed_tries_total", {"model": "gpt", "kind": "http_429"}, 9),
        ("privasis_cost_dollars_total", {}, 1.5),
        ("privasis_cost_projected_dollars", {}, 6),
        ("privasis_budget_dollars", {}, 5),
        ("privasis_call_seconds_bucket", {"step": "draft", "model": "gpt", "le": "0.25"}, 0),
        ("privasis_call_seconds_bucket", {"step": "draft", "model": "gpt", "le": "0.5"}, 1),
        ("privasis_call_seconds_bucket", {"step": "draft", "model": "gpt", "le": "320.0"}, 1),
        ("privasis_call_seconds_bucket", {"step": "draft", "model": "gpt", "le": "+Inf"}, 2),
        ("privasis_call_seconds_sum", {"step": "draft", "model": "gpt"}, 700.3),
        ("privasis_answer_seconds_count", {"step": "draft", "model": "gpt"}, 2),
        ("privasis_prompt_tokens_sum", {"step": "draft", "model": "gpt"}, 300),
        ("privasis_completion_tokens_bucket", {"step": "draft", "model": "gpt", "le": "16.0"}, 1),
    ],
)
def test_what_the_state_says_is_what_prometheus_reads(name: str, labels: dict[str, str], value: float) -> None:
    assert samples_of(STATE)[name, frozenset(labels.items())] == pytest.approx(value)


def test_what_is_not_known_is_absent_and_not_zero() -> None:
    unknown = STATE.model_copy(update={"eta_s": None, "money": Money(spent_usd=1.0)})
    names = {name for name, _ in samples_of(unknown)}
    assert not names & {"privasis_eta_seconds", "privasis_cost_projected_dollars", "privasis_budget_dollars"}
    assert samples_of(None) == {}


def expressions(part: Any) -> Iterator[str]:
    """Yield every query of a dashboard."""
    if isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, str) and key in ("expr", "query"):
                yield value
            else:
                yield from expressions(value)
    elif isinstance(part, list):
        for value in part:
            yield from expressions(value)


NAMES = {name for name, _ in samples_of(STATE)}
LABELS = {name: {label for each, labels in samples_of(STATE) if each == name for label, _ in labels} for name in NAMES}


def test_the_dashboard_asks_only_for_metrics_that_a_run_has() -> None:
    asked = {
        name for query in expressions(json.loads(DASHBOARD.read_text())) for name in re.findall(r"privasis_\w+", query)
    }
    assert asked - NAMES == set()
    families = {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in asked}
    known = {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in NAMES}
    assert known - families == set(), "a metric that no panel shows"


def test_the_dashboard_sums_by_labels_that_the_metric_has() -> None:
    grouped = re.compile(r"by \(([\w, ]+)\) \((?:rate\()?(privasis_\w+)")
    found = [each for query in expressions(json.loads(DASHBOARD.read_text())) for each in grouped.findall(query)]
    assert len(found) >= 15
    for labels, name in found:
        assert set(labels.split(", ")) <= LABELS[name], (labels, name)


def test_the_panels_of_the_dashboard_do_not_overlap_and_have_numbers_of_their_own() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    cells = [
        (place["x"] + across, place["y"] + down)
        for place in (panel["gridPos"] for panel in panels)
        for across in range(place["w"])
        for down in range(place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_a_run_answers_on_loopback_with_its_latest_state() -> None:
    states = [STATE, STATE.model_copy(update={"rows": 7})]
    with served(lambda: states[0], port=0) as url:
        assert url.startswith(f"http://{LOOPBACK}:")
        first = urllib.request.urlopen(url).read().decode()
        states.pop(0)
        second = urllib.request.urlopen(url).read().decode()
    assert 'privasis_rows_wanted{dataset="records",stage="triplets"} 100.0' in first
    assert 'privasis_rows_wanted{dataset="records",stage="triplets"} 7.0' in second


def test_a_port_that_is_taken_is_named_with_what_to_do() -> None:
    with served(lambda: None, port=0) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])
        with pytest.raises(OSError, match=f"port {port} .*PRIVASIS_METRICS_PORT"), served(lambda: None, port):
            pass
