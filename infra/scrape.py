"""What a server says of itself at ``/metrics``."""

from collections import defaultdict
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families


class NotMetrics(ValueError):
    """What a server says is not in the Prometheus format."""


def metrics_of(text: str) -> Mapping[str, float]:
    """Return each metric, summed over its labels; 0 for what is not there.

    Args:
        text: in the Prometheus format.

    Raises:
        NotMetrics: it is not.
    """
    values: defaultdict[str, float] = defaultdict(float)
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                values[sample.name] += sample.value
    except ValueError as error:
        raise NotMetrics(f"{len(text)} characters that are not in the Prometheus format") from error
    return values
