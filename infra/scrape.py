"""What a server says of itself at ``/metrics``."""

from collections import defaultdict
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families


def metrics_of(text: str) -> Mapping[str, float]:
    """Return each metric, summed over its labels; 0 for what is not there.

    Args:
        text: in the Prometheus format.
    """
    values: defaultdict[str, float] = defaultdict(float)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            values[sample.name] += sample.value
    return values
