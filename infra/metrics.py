"""The state of a run as Prometheus metrics: no name of a record, no text, labels of few values."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from infra.histogram import SECONDS, TOKENS, Spread
from infra.run_state import RunState, sum_waits

LOOPBACK = "127.0.0.1"
_RUN = ("dataset", "stage")
_STEP = (*_RUN, "step", "model")


class RunCollector(Collector):
    """Turns the state of one run into metrics whenever Prometheus asks.

    Args:
        state: returns the latest one; None while there is none.
    """

    def __init__(self, state: Callable[[], RunState | None]) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, without samples while there is no state."""
        state = self._state()
        yield from _progress(state)
        yield from _waiting(state)
        yield from _servers(state)
        yield from _steps(state)
        yield from _money(state)


def _progress(state: RunState | None) -> Iterator[Metric]:
    rows = CounterMetricFamily("privasis_rows", "Rows finished in this run, by outcome", labels=(*_RUN, "outcome"))
    wanted = GaugeMetricFamily("privasis_rows_wanted", "Rows to be made in this run", labels=_RUN)
    eta = GaugeMetricFamily(
        "privasis_eta_seconds", "To the end at the rate of the last minute; absent while nothing moves", labels=_RUN
    )
    still = GaugeMetricFamily(
        "privasis_still_seconds", "Since a row was finished or a call was answered, whatever is later", labels=_RUN
    )
    heartbeat = GaugeMetricFamily("privasis_heartbeat_timestamp_seconds", "When the run last looked", labels=_RUN)
    shards = GaugeMetricFamily("privasis_shards", "Shards of the stage, by state", labels=(*_RUN, "state"))
    workers = GaugeMetricFamily("privasis_workers", "Workers, by whether they answer", labels=(*_RUN, "answers"))
    if state is not None:
        run = _of(state)
        for outcome, count in state.done.items():
            rows.add_metric((*run, outcome), count)
        wanted.add_metric(run, state.rows)
        still.add_metric(run, state.still_s)
        heartbeat.add_metric(run, state.written_at.timestamp())
        if state.eta_s is not None:
            eta.add_metric(run, state.eta_s)
        for name, count in (
            ("committed", state.shards.committed),
            ("running", state.shards.running),
            ("waiting", state.shards.waiting),
            ("held", state.shards.held),
        ):
            shards.add_metric((*run, name), count)
        for answers in (True, False):
            count = sum(worker.answers is answers for worker in state.workers)
            workers.add_metric((*run, "yes" if answers else "no"), count)
    yield from (rows, wanted, eta, still, heartbeat, shards, workers)


def _waiting(state: RunState | None) -> Iterator[Metric]:
    by_worker = GaugeMetricFamily(
        "privasis_waiting",
        "Calls and shards in a worker's hands, by what they wait for",
        labels=(*_RUN, "worker", "on"),
    )
    idle = GaugeMetricFamily(
        "privasis_shards_waiting", "Shards that no worker has, by what they wait for", labels=(*_RUN, "on")
    )
    oldest = GaugeMetricFamily(
        "privasis_oldest_call_seconds", "Since the call was asked that waits longest", labels=(*_RUN, "worker")
    )
    if state is not None:
        run = _of(state)
        # Every reason that anybody has, for everybody: a series that vanishes would read as its last value for a while.
        reasons = sum_waits(worker.waits for worker in state.workers)
        for worker in state.workers:
            for reason in reasons:
                by_worker.add_metric((*run, str(worker.index), reason), worker.waits.get(reason, 0))
            oldest.add_metric((*run, str(worker.index)), worker.oldest_s)
        for reason, count in state.shard_waits.items():
            idle.add_metric((*run, reason), count)
    yield from (by_worker, idle, oldest)


def _servers(state: RunState | None) -> Iterator[Metric]:
    labels = (*_RUN, "server")
    open_calls = GaugeMetricFamily("privasis_server_open_calls", "Calls open at a server", labels=labels)
    queued = GaugeMetricFamily("privasis_server_queued_calls", "Calls that wait for a place at it", labels=labels)
    width = GaugeMetricFamily("privasis_server_places", "Calls that may be open at it now", labels=labels)
    failed = CounterMetricFamily(
        "privasis_failed_tries",
        "Tries that failed, by kind; each is followed by another",
        labels=(*_RUN, "model", "kind"),
    )
    if state is not None:
        run = _of(state)
        for server in state.servers:
            open_calls.add_metric((*run, server.server), server.open)
            queued.add_metric((*run, server.server), server.waiting)
            width.add_metric((*run, server.server), server.width)
        for model, kinds in state.failures.items():
            for kind, count in kinds.items():
                failed.add_metric((*run, model, kind), count)
    yield from (open_calls, queued, width, failed)


def _steps(state: RunState | None) -> Iterator[Metric]:
    seconds = HistogramMetricFamily(
        "privasis_call_seconds", "From asking to the answer, with all that a call waits for", labels=_STEP
    )
    answering = HistogramMetricFamily(
        "privasis_answer_seconds", "From sending the request that was answered to its last byte", labels=_STEP
    )
    prompt = HistogramMetricFamily("privasis_prompt_tokens", "Tokens read by a call", labels=_STEP)
    completion = HistogramMetricFamily("privasis_completion_tokens", "Tokens written by a call", labels=_STEP)
    for run, step in [] if state is None else [(_of(state), step) for step in state.steps]:
        labels = (*run, step.step, step.model)
        for family, spread, bounds in (
            (seconds, step.seconds, SECONDS),
            (answering, step.answering, SECONDS),
            (prompt, step.prompt, TOKENS),
            (completion, step.completion, TOKENS),
        ):
            family.add_metric(labels, _buckets(spread, bounds), spread.total)
    yield from (seconds, answering, prompt, completion)


def _money(state: RunState | None) -> Iterator[Metric]:
    spent = CounterMetricFamily("privasis_cost_dollars", "What the stage has cost, earlier runs included", labels=_RUN)
    projected = GaugeMetricFamily("privasis_cost_projected_dollars", "What it will have cost at the end", labels=_RUN)
    budget = GaugeMetricFamily("privasis_budget_dollars", "What it may cost; absent without a budget", labels=_RUN)
    if state is not None:
        spent.add_metric(_of(state), state.money.spent_usd)
        if state.money.projected_usd is not None:
            projected.add_metric(_of(state), state.money.projected_usd)
        if state.money.limit_usd is not None:
            budget.add_metric(_of(state), state.money.limit_usd)
    yield from (spent, projected, budget)


def _of(state: RunState) -> tuple[str, str]:
    return state.dataset, state.stage


def _buckets(spread: Spread, bounds: Sequence[float]) -> list[tuple[str, float]]:
    """Return the cumulated counts that Prometheus wants."""
    cumulated, buckets = 0, list[tuple[str, float]]()
    for bound, count in zip((*bounds, float("inf")), spread.counts, strict=True):
        cumulated += count
        buckets.append(("+Inf" if bound == float("inf") else repr(bound), cumulated))
    return buckets


@contextmanager
def served(state: Callable[[], RunState | None], port: int) -> Iterator[str]:
    """Answer Prometheus on loopback for the length of the block.

    Args:
        state: returns the latest state of the run.
        port: 0 for any that is free.

    Yields:
        The address to ask.

    Raises:
        OSError: the port is taken.
    """
    registry = CollectorRegistry()
    registry.register(RunCollector(state))
    try:
        server, thread = start_http_server(port, addr=LOOPBACK, registry=registry)
    except OSError as error:
        raise OSError(
            f"metrics cannot be served on port {port} ({error.strerror}): set PRIVASIS_METRICS_PORT to another,"
            " or unset it and any free one is taken"
        ) from error
    try:
        yield f"http://{LOOPBACK}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
