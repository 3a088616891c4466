"""The real vLLM on processors, started and watched as in any run, makes a shard of ten records: `make test-vllm`.

PRIVASIS_TEST_VLLM names the interpreter of an environment that has vLLM's CPU build; without it, this is skipped.
"""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from flows.config import RunConfig, load_run
from tests.faults.small_runs import findings_of, store_of
from tests.vllm.interpreter import INTERPRETER, needs_vllm

pytestmark = needs_vllm


def run_in(folder: Path) -> tuple[Path, RunConfig]:
    """Write the run of ten.toml, with its data in ``folder`` and vLLM where it is."""
    text = Path(__file__).with_name("ten.toml").read_text()
    text = text.replace('kind = "vllm"', f'kind = "vllm"\npython = "{INTERPRETER.absolute()}"')
    file = folder / "ten.toml"
    file.write_text(f'root = "{folder / "data"}"\n{text}')
    return file, load_run(file, {})


def test_ten_records_come_out_of_a_real_vllm_server(tmp_path: Path) -> None:
    file, run = run_in(tmp_path)
    command = [sys.executable, "-c", "from flows.cli import main; main()", "synthesize", "-c", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    look_at(run)


def look_at(run: RunConfig) -> None:
    """Read the shard back from its files."""
    store = store_of(run)
    assert findings_of(run) == []
    (shard,) = store.manifest.shards()
    files = store.manifest.record(shard).files
    records, rejects = (
        pq.read_table(store.layout.data_file(name, shard)).to_pylist() for name in ("records", "rejects")
    )
    assert (len(records), len(rejects)) == (files["records"].rows, files["rejects"].rows)
    assert sorted(row["index"] for row in records + rejects) == list(range(10))
    assert len(records) >= 5, [row["reason"] for row in rejects]  # of so small a model some may come to nothing
    for row in records:
        assert row["model"] == "smollm2-135m"
        assert len(row["text"].split()) > 20
        assert not set(row["text"]) & set("[]<>{}")  # vLLM was given the constraint, and kept it
        assert row["tokens"]["completion"] > row["words"]
        assert row["tokens"]["prompt"] > row["tokens"]["completion"]
    assert len({row["text"] for row in records}) == len(records)
    assert any(row["attributes"] for row in records)
