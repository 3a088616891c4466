"""The single looks of ``privasis doctor``; each finds one thing, or says what to do."""

import asyncio
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

from flows.commands.checks import check_answers
from flows.config import Embedded, LiteLLM, Remote, RunConfig, Simulated
from infra.engines import models as gguf
from infra.engines.cores import usable_cores
from infra.llm.connect import Endpoint, MiniLM, OpenAIEmbedding, connect, connect_embedder, price_of
from infra.llm.prices import UnknownPrice, price_table
from infra.llm.types import BackendUnavailable
from infra.packages import PackageMissing
from infra.prefect_local import PrefectUnavailable, prefect_api
from infra.ray.cluster import prepare_environment
from infra.settings import settings
from infra.shards import files
from infra.shards.location import ObjectPath
from infra.shards.s3 import StorageRefused, StorageUnavailable

DISTRIBUTION = "privasis-factory"
LEAST_PYTHON = (3, 11)
SHOWN_PACKAGES = ("ray", "prefect", "polars", "pyarrow", "pydantic", "openai")
GIB = 2**30
LEAST_MEMORY_BYTES = 3 * GIB  # the embedded model, Ray, Prefect's server and the workers of a small run together
LEAST_DISK_BYTES = 2 * GIB  # the embedded model's file is half a gibibyte
USUAL_KEY = "OPENAI_API_KEY"
NVIDIA_WITHIN_S = 20.0

State = Literal["ok", "missing", "optional"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for.

    Attributes:
        state: ``missing`` is what a run needs and does not find; ``optional`` is absent and need not be there.
        detail: what was found.
        advice: what to do about it; empty where there is nothing to do.
    """

    name: str
    state: State
    detail: str
    advice: str = ""


def findings(run: RunConfig) -> Iterator[Finding]:
    """Look at everything that ``run`` needs, then at what other runs may."""
    yield python()
    yield packages()
    for entry in run.models:
        match entry.engine:
            case Embedded(model=model):
                yield embedded_model(model)
            case Remote() as remote:
                yield from server(remote)
            case LiteLLM() as other:
                yield through_litellm(other)
            case Simulated():
                yield Finding("simulator", "ok", "comes with this package")
    match run.embedder:
        case MiniLM() as minilm:
            yield embedder(minilm)
        case OpenAIEmbedding(endpoint=endpoint):
            yield from server(endpoint)
        case _:
            yield Finding("embedder", "ok", "vectors of the simulator")
    yield cores(1 if run.workers == "cluster" else run.workers)
    yield memory()
    if isinstance(run.root, ObjectPath):
        yield store("object store for data", run.root)
        yield disk("disk for journals", settings().scratch_folder)
    else:
        yield disk("disk for data", run.root)
    yield disk("disk for models", settings().cache)
    yield gpu()
    yield ray()
    yield prefect()
    yield from optional(run)


def python() -> Finding:
    """Look at the interpreter."""
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < LEAST_PYTHON:
        return Finding("Python", "missing", detail, "install Python 3.11 or newer, then `make clean setup`")
    return Finding("Python", "ok", detail)


def packages() -> Finding:
    """Compare what is installed with what this distribution asks for, extras left out."""
    wrong = []
    for text in importlib.metadata.requires(DISTRIBUTION) or []:
        asked = Requirement(text)
        if asked.marker is not None and not asked.marker.evaluate({"extra": ""}):
            continue
        try:
            has = importlib.metadata.version(asked.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{asked.name} is not installed")
            continue
        if not asked.specifier.contains(has, prereleases=True):
            wrong.append(f"{asked.name} is {has}, not {asked.specifier}")
    if wrong:
        return Finding("packages", "missing", "; ".join(wrong), "run `make setup`")
    shown = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in SHOWN_PACKAGES)
    return Finding("packages", "ok", f"all as asked; {shown}")


def embedded_model(model: str) -> Finding:
    """Locate the file of an embedded model and check its hash."""
    name = f"model {model}"
    try:
        path = gguf.locate(model)
    except gguf.ModelMissing as error:
        return Finding(name, "missing", str(error))
    known = gguf.KNOWN_MODELS.get(model)
    checked = f"SHA-256 {known.sha256[:12]}… as expected" if known else "a file of your own, nothing to compare it with"
    return Finding(name, "ok", f"{path}, {path.stat().st_size / 1e6:,.0f} MB, {checked}")


def server(endpoint: Endpoint) -> Iterator[Finding]:
    """Look at the key, the price and the address of a model behind the OpenAI protocol."""
    name = f"model {endpoint.model}"
    if endpoint.api_key_env is not None:
        yield key(endpoint.api_key_env, "missing")
        if not os.environ.get(endpoint.api_key_env):
            return
    try:
        price_of(endpoint)
        check_answers(endpoint)
    except (BackendUnavailable, UnknownPrice) as error:
        yield Finding(name, "missing", str(error.args[0]))
    else:
        yield Finding(
            name, "ok", f"{endpoint.base_url or 'the default server'} answers, prices as of {price_table().as_of}"
        )


def through_litellm(endpoint: Endpoint) -> Finding:
    """Look at the package, the key and the price of a model behind litellm; it has no list of models to ask for."""
    name = f"model {endpoint.model}"
    try:
        price_of(endpoint)
        connect(endpoint)
    except (BackendUnavailable, PackageMissing, UnknownPrice) as error:
        return Finding(name, "missing", str(error.args[0]))
    return Finding(name, "ok", f"litellm is installed, prices as of {price_table().as_of}")


def key(variable: str, unless_set: State) -> Finding:
    """Say whether a key is set; never what it is."""
    if os.environ.get(variable):
        return Finding(f"key {variable}", "ok", "set")
    return Finding(f"key {variable}", unless_set, "not set", "paid and protected servers need one; put it there")


def embedder(config: MiniLM) -> Finding:
    """Embed a sentence."""

    async def embed() -> int:
        async with connect_embedder(config) as minilm:
            (vector,) = await minilm.embed(["A sentence."])
            return len(vector)

    try:
        return Finding(
            "embedder", "ok", f"all-MiniLM-L6-v2, int8: {asyncio.run(embed())} dimensions, hashes as expected"
        )
    except BackendUnavailable as error:
        return Finding("embedder", "missing", str(error))


def cores(workers: int) -> Finding:
    """Count cores."""
    usable, threads = usable_cores(), os.cpu_count()
    detail = f"{usable} to use, {threads} threads in the machine"
    if usable < workers:
        return Finding("cores", "missing", detail, f"{workers} workers want a core each: lower --workers")
    return Finding("cores", "ok", detail)


def memory() -> Finding:
    """Look at the machine's memory."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    detail = f"{total / GIB:.1f} GiB"
    if total < LEAST_MEMORY_BYTES:
        return Finding(
            "memory", "missing", detail, f"{LEAST_MEMORY_BYTES / GIB:.0f} GiB are wanted: use a larger machine"
        )
    return Finding("memory", "ok", detail)


def disk(name: str, folder: Path) -> Finding:
    """Look at the room where something will be written: at ``folder``, or the nearest folder above that is there."""
    there = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.exists())
    free = shutil.disk_usage(there).free
    detail = f"{free / GIB:,.1f} GiB free at {there}"
    if not os.access(there, os.W_OK):
        return Finding(
            name, "missing", detail, "it cannot be written to: choose another place (--root, PRIVASIS_CACHE)"
        )
    if free < LEAST_DISK_BYTES:
        return Finding(name, "missing", detail, f"{LEAST_DISK_BYTES / GIB:.0f} GiB are wanted: make room")
    return Finding(name, "ok", detail)


def store(name: str, root: ObjectPath) -> Finding:
    """Write to an object store, and find out whether it keeps two writers apart."""
    try:
        files.make_folder(root)
    except (PackageMissing, StorageRefused, StorageUnavailable) as error:
        return Finding(name, "missing", str(error))
    return Finding(name, "ok", f"{root} can be written to, and one of two writers at once is told so")


def gpu() -> Finding:
    """Ask the driver for GPUs; synthesis needs none."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return Finding("GPU", "optional", "none found; synthesis needs none, training and your own vLLM do")
    query = [command, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        asked = subprocess.run(query, capture_output=True, text=True, timeout=NVIDIA_WITHIN_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("GPU", "optional", f"nvidia-smi failed: {error}", "look at the driver if this machine has one")
    return Finding("GPU", "ok", "; ".join(asked.stdout.split("\n")[:-1]))


def ray() -> Finding:
    """Import Ray, and look for the cluster if one is set up."""
    try:
        prepare_environment()  # it reads some of it while it is imported
        import ray  # noqa: F401 - whether it can be imported is the question
    except ImportError as error:
        return Finding("Ray", "missing", f"cannot be imported: {error}", "run `make setup`")
    address = settings().ray_address
    if address is None:
        return Finding("Ray", "ok", "can be imported; each run starts a cluster of its own on loopback")
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, ValueError) as error:
        return Finding("Ray", "missing", f"PRIVASIS_RAY_ADDRESS={address}: {error}", "start that cluster, or unset it")
    return Finding("Ray", "ok", f"a head answers at PRIVASIS_RAY_ADDRESS={address}")


def prefect() -> Finding:
    """Start a Prefect server as a run would, or reach the one that is set up."""
    try:
        with prefect_api(settings().cache / "prefect") as ready:
            url = ready()
    except PrefectUnavailable as error:
        return Finding("Prefect", "missing", str(error))
    return Finding("Prefect", "ok", f"an API answered at {url}")


def optional(run: RunConfig) -> Iterator[Finding]:
    """Look at what this run does without, and others may want."""
    asked = {entry.engine.api_key_env for entry in run.models if isinstance(entry.engine, Remote)}
    if USUAL_KEY not in asked:
        yield key(USUAL_KEY, "optional")
    torch = importlib.util.find_spec("torch")
    advice = "" if torch else f"surprise masking and training want it: pip install '{DISTRIBUTION}[surprise]'"
    yield Finding("torch", "ok" if torch else "optional", "installed" if torch else "not installed", advice)
