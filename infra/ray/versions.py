"""Do all nodes of a cluster run the same code? Asked before any work: the errors of a mixed cluster are baffling."""

from collections.abc import Callable

PACKAGES = ("ray", "prefect", "privasis-factory")
Versions = dict[str, str]


class VersionsDiffer(Exception):
    """Nodes of the cluster run other versions than this process, or do not say; the message names them."""


def versions_here() -> Versions:
    """Return the versions that matter, of this process."""
    return _probe()(PACKAGES)


def check_versions(timeout_s: float) -> None:
    """Make sure that every live node of the connected cluster runs what this process runs.

    Raises:
        VersionsDiffer: a node has another Python (minor version), Ray, Prefect or privasis-factory, or did not answer
            within ``timeout_s``.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    names = {
        node["NodeID"]: f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
        for node in ray.nodes()  # type: ignore[no-untyped-call]
        if node["Alive"]
    }
    probe = ray.remote(num_cpus=0, max_retries=0)(_probe())
    answers = {
        probe.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False)).remote(PACKAGES): name
        for node_id, name in names.items()
    }
    answered, silent = ray.wait(list(answers), num_returns=len(answers), timeout=timeout_s)
    if silent:
        raise VersionsDiffer(f"no answer within {timeout_s:g} s from {', '.join(answers[node] for node in silent)}")
    if problem := describe_difference(versions_here(), [(answers[node], ray.get(node)) for node in answered]):
        raise VersionsDiffer(problem)


def describe_difference(ours: Versions, theirs: list[tuple[str, Versions]]) -> str:
    """Say which of the named nodes differ from ``ours`` and in what; empty if none does."""
    lines = [
        f"{name}: {', '.join(f'{what} {has[what]} (here {ours[what]})' for what in ours if has[what] != ours[what])}"
        for name, has in theirs
        if has != ours
    ]
    return "install the same versions on every node of the cluster: " + "; ".join(lines) if lines else ""


def _probe() -> Callable[[tuple[str, ...]], Versions]:
    # Ray sends a nested function by value, so that a node that cannot import this package can still say so.
    def probe(packages: tuple[str, ...]) -> Versions:
        import importlib.metadata
        import platform

        versions = {"python": ".".join(platform.python_version_tuple()[:2])}
        for package in packages:
            try:
                versions[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                versions[package] = "not installed"
        return versions

    return probe
