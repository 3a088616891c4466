import signal
from collections.abc import Iterator

import pytest

from infra.ray.cluster import Size, cluster, prepare_environment


@pytest.fixture(scope="package")
def two_nodes() -> Iterator[Size]:
    """This process, attached to a cluster of two nodes on loopback, by its address as on a real one."""
    prepare_environment()
    before = signal.getsignal(signal.SIGTERM)
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        nodes.add_node(num_cpus=2)
        with cluster(nodes.address, at_least=Size(nodes=2, cpus=4)) as size:
            yield size
    finally:
        nodes.shutdown()
        signal.signal(signal.SIGTERM, before)  # each node set one
