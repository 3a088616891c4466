"""What the service counts: requests, texts, seconds; nothing of what is in them."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class ServiceMetrics:
    """Metrics of one service, in a registry of their own."""

    def __init__(self, inside: Callable[[], int]) -> None:
        """Begin to count; ``inside`` tells how many requests are in work or waiting."""
        self._registry = CollectorRegistry()
        self.responses = Counter(
            "privasis_responses", "Responses by path and status", ("path", "status"), registry=self._registry
        )
        self.texts = Counter("privasis_texts", "Texts by outcome", ("outcome",), registry=self._registry)
        self.seconds = Histogram(
            "privasis_request_seconds",
            "From arrival to answer",
            ("path",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        gauge = Gauge("privasis_requests_inside", "Requests in work or waiting", registry=self._registry)
        gauge.set_function(inside)

    def text(self) -> bytes:
        """Return all of it in the Prometheus format."""
        return generate_latest(self._registry)
