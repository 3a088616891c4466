"""Finds the data that installed packages carry, without importing them."""

from importlib.util import find_spec
from pathlib import Path


class PackageMissing(Exception):
    """A package that carries a model file is not installed."""


def package_folder(package: str) -> Path:
    """Return the folder of an installed top-level package; its code does not run.

    Raises:
        PackageMissing: it is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise PackageMissing(f"package {package} is not installed: run `make setup`")
    return Path(spec.submodule_search_locations[0])
