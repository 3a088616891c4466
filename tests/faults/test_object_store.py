"""A whole data set in an object store: the same rows as in a folder, also when machines are lost on the way."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from flows.commands.sanitize import write_page as write_triplets_page
from flows.config import RunConfig
from flows.report import summary_of, write_page
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.shards import files
from infra.shards.location import ObjectPath
from tasks.surprise.reading.raw import InputUnfit
from tasks.surprise.reading.steps import InputConfig
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tests.faults.forked import FORKED
from tests.faults.small_runs import findings_of, make, past_of, rows_of, run_on, store_of
from tests.faults.small_triplets import faults_of, outcomes_of, sanitize, triplets_of
from tests.infra.shards import object_store
from tests.infra.shards.object_store import BUCKET, Store

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(seed=3, latency_ms=10, latency_jitter=0.5)) as running:
        yield running


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with object_store.served() as store:
        yield store


@pytest.fixture
def bucket(server: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Store]:
    object_store.use(server, monkeypatch, tmp_path / "scratch")
    yield server
    object_store.forget()


@dataclass(frozen=True)
class Made:
    """The records of one run, in a folder and in the bucket."""

    here: RunConfig
    there: RunConfig


@pytest.fixture(scope="module")
def made(simulator: Simulator, server: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as environment:
        object_store.use(server, environment, folder / "scratch")
        both = Made(run_of(simulator, folder / "data"), run_of(simulator, ObjectPath(BUCKET, "made/data")))
        make(both.here)
        make(both.there)
        yield both


def run_of(simulator: Simulator, root: Path | ObjectPath) -> RunConfig:
    synthesis = SynthesisConfig(words=80, refinement=RefinementConfig(steps=1, diversity=False))
    return run_on(simulator, root, records=8, shard_size=4, synthesis=synthesis)


def test_records_triplets_and_pages_are_those_of_a_folder(made: Made, bucket: Store) -> None:
    here, there = made.here, made.there
    for run in (here, there):
        sanitize(run)
    assert rows_of(there) == rows_of(here)
    assert outcomes_of(there) == outcomes_of(here)
    assert len(rows_of(there)) == len(outcomes_of(there)) == 8
    assert findings_of(there) == faults_of(there) == []

    pages = []
    for run in (here, there):
        store = store_of(run)
        page = write_page(store, run.dataset, summary_of(store))
        pages.append((files.read(page), files.read(write_triplets_page(triplets_of(run), run.dataset))))
    assert pages[0][0] == pages[1][0]
    assert pages[0][1] is not None


def test_records_are_read_to_be_scored(made: Made, bucket: Store) -> None:
    run = made.there
    rows = InputConfig(paths=(run.root / run.dataset,)).open()
    texts = store_of(run).read("records", ["text"])["text"].to_pylist()
    assert rows.rows == len(texts)
    found = [each.content["text"] for part in rows.slices(0, len(texts)) for each in part.read()]  # type: ignore[index]
    assert [text.decode() for text in found] == texts
    with pytest.raises(InputUnfit, match="no data set of records"):
        InputConfig(paths=(run.root / "other.parquet",)).open()


def test_other_readers_read_the_files_where_they_are(made: Made, bucket: Store) -> None:
    """As docs/object-storage.md has it."""
    store = store_of(made.there)
    ids = sorted(store.read("records", ["record_id"])["record_id"].to_pylist())
    options = {
        "aws_endpoint_url": bucket.url,
        "aws_access_key_id": "one",
        "aws_secret_access_key": "two",
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
    }
    frame = pl.scan_parquet([str(path) for path in store.paths("records")], storage_options=options)
    assert frame.select("record_id").collect().to_series().sort().to_list() == ids
    reader = fs.S3FileSystem(
        endpoint_override=bucket.url.removeprefix("http://"), scheme="http", access_key="one", secret_key="two"
    )
    names = [str(path).removeprefix("s3://") for path in store.paths("records")]
    assert sorted(pq.read_table(names, filesystem=reader, columns=["record_id"])["record_id"].to_pylist()) == ids


def test_a_machine_is_lost_and_another_goes_on(simulator: Simulator, made: Made, bucket: Store, tmp_path: Path) -> None:
    there = run_of(simulator, ObjectPath(BUCKET, f"{tmp_path.name}/data"))
    whole = past_of(made.here, simulator.dimension).requests
    simulator.reset()
    process = FORKED.Process(target=_make_there, args=(there, bucket.url, str(tmp_path / "lost")))
    process.start()
    simulator.wait(whole // 2)
    process.kill()
    process.join()

    os.environ["PRIVASIS_SCRATCH"] = str(tmp_path / "another")  # the fixture puts it back
    object_store.forget()
    make(there)
    assert rows_of(there) == rows_of(made.here)
    assert findings_of(there) == []


def _make_there(run: RunConfig, url: str, scratch: str) -> None:
    os.environ |= {
        "AWS_ENDPOINT_URL_S3": url,
        "AWS_ACCESS_KEY_ID": "one",
        "AWS_SECRET_ACCESS_KEY": "two",
        "AWS_REGION": "us-east-1",
        "PRIVASIS_SCRATCH": scratch,
    }
    object_store.forget()
    make(run)
