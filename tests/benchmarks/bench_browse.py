"""How ``privasis browse`` does at a million records: time of pages, of the index, of searches; peak memory.

    python tests/benchmarks/bench_browse.py [--records 1000000] [--root FOLDER]

Writes a root of small records (60 words, 4 attributes, 2 groups, 500 a shard), serves it as the command does in a
process of its own, and asks it over HTTP. Times are medians: as a person waits, and of CPU, which a
busy machine does not lengthen; memory is the process's own peak.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa

from infra.shards import files, parquet
from infra.shards.manifest import FileRecord, ShardRecord, ShardSummary
from infra.shards.ranges import ShardRange
from tasks.records import RECORDS, REJECTS
from tasks.synthesis.kinds import KINDS
from tasks.synthesis.taxonomy import DOMAINS

SHARD = 500
WORDS = 60
DATASET = "million"
VOCABULARY = 20_000  # words; the n-th is drawn in proportion to 1/n
TOKENS = {"prompt": 900, "cached": 0, "completion": 300, "reasoning": 0}


def write_root(root: Path, records: int) -> None:
    """Write shards as a stage commits them, without leases and syncs, which take a tenth of a second each."""
    drawn = np.random.default_rng(0)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    words = np.array([f"word{number}" for number in range(VOCABULARY)])
    chances = np.cumsum(weights / weights.sum())
    home = root / DATASET
    folders = {name: home / name for name in ("records", "rejects")}
    manifest = home / "manifest" / "records"
    for folder in (*folders.values(), manifest):
        folder.mkdir(parents=True)
    template = pa.Table.from_pylist([_row(place) for place in range(SHARD)], schema=RECORDS)
    none = parquet.encode(REJECTS.empty_table())
    for first in range(0, records, SHARD):
        shard = ShardRange(first, first + SHARD)
        texts = words[np.searchsorted(chances, drawn.random((SHARD, WORDS)))]
        made = {"records": parquet.encode(_table(template, first, [" ".join(text) for text in texts])), "rejects": none}
        for name, data in made.items():
            (folders[name] / f"{shard.name}{parquet.SUFFIX}").write_bytes(data)
        record = ShardRecord(
            shard=shard,
            stage="records",
            spec_hash="0" * 64,
            input_hashes={},
            files={
                name: FileRecord(rows=SHARD * (name == "records"), bytes=data.nbytes, sha256=files.sha256(data))
                for name, data in made.items()
            },
            summary=ShardSummary(calls=SHARD * 10),
            created_at=datetime.now(UTC),
            fencing_token=1,
        )
        (manifest / f"{shard.name}.json").write_text(record.model_dump_json(indent=1))


def _table(template: pa.Table, first: int, texts: list[str]) -> pa.Table:
    """Return a shard: what tells one from another is number, id and text."""
    numbers = range(first, first + SHARD)
    for name, values in (
        ("record_id", [f"r-00000000-{number:08d}" for number in numbers]),
        ("index", numbers),
        ("text", texts),
    ):
        field = RECORDS.field(name)
        template = template.set_column(RECORDS.get_field_index(name), field, pa.array(values, field.type))
    return template


def _row(index: int) -> dict[str, Any]:
    spans = [(0, 6), (100, 106), (120, 124), (200, 206)]
    domain = DOMAINS[index % len(DOMAINS)].name
    return {
        "record_id": f"r-00000000-{index:08d}",
        "index": index,
        "seed": 0,
        "model": f"model-{index % 3}",
        "language": "English" if index % 10 else "German",
        "profile": {"first_name": "Ann", "age": 18 + index % 70},
        "event": {"name": "move", "domain": domain, "date": None, "attributes": []},
        "record_type": f"{KINDS[index % len(KINDS)]} {index % 7}",
        "context": "a story",
        "format": "plain",
        "text": "",
        "domain": domain,
        "subcategory": None,
        "attributes": [
            {
                "key": f"key_{number}",
                "value": "a value",
                "source": "text",
                "grounded": True,
                "spans": [{"start": start, "end": end}],
            }
            for number, (start, end) in enumerate(spans)
        ],
        "groups": [{"name": "contact", "keys": ["key_0", "key_1"]}, {"name": "money", "keys": ["key_2", "key_3"]}],
        "refinement": [],
        "embedding": [1.0, 0.0],
        "words": WORDS,
        "calls": 10,
        "tokens": TOKENS,
        "cost_usd": 0.001,
        "prompt_shas": [],
    }


class Browser:
    """The command in a process of its own."""

    def __init__(self, root: Path, cache: Path) -> None:
        command = [sys.executable, "-c", "from flows.cli import main; main()", "browse", str(root), "--port", "0"]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PRIVASIS_CACHE": str(cache)}
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        self.client = httpx.Client(base_url=line.split(" at ")[1].split(" ")[0], timeout=120)

    def ask(self, path: str, times: int = 5) -> tuple[float, float, int]:
        """Return the median seconds until a page is there, those of it that the process worked, and its bytes."""
        waited, worked = [], []
        for _ in range(times):
            began, before = time.perf_counter(), self.worked_s()
            answer = self.client.get(path)
            waited.append(time.perf_counter() - began)
            worked.append(self.worked_s() - before)
            answer.raise_for_status()
        return statistics.median(waited), statistics.median(worked), len(answer.content)

    def worked_s(self) -> float:
        """Return the seconds of CPU that the process has had, all threads together."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, what: str) -> float:
        """Return MiB of the process: ``VmHWM``, its peak, or ``VmRSS``, now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(f"{what}:")[1].split()[0]) / 1024

    def end(self) -> None:
        """End as Ctrl-C does."""
        self.client.close()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--root", type=Path, help="kept and used again; without it a temporary one")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = asked.root or Path(scratch) / "root"
        if not (root / DATASET).is_dir():
            began = time.perf_counter()
            write_root(root, asked.records)
            print(f"wrote {asked.records:,} records in {time.perf_counter() - began:.0f} s")
        measure(root, Path(scratch) / "cache", asked.records)
        shutil.rmtree(Path(scratch) / "cache", ignore_errors=True)


def measure(root: Path, cache: Path, records: int) -> None:
    """Serve ``root`` and ask for pages before, while and after the index is built."""
    began = time.perf_counter()
    browser = Browser(root, cache)
    print(f"started in {time.perf_counter() - began:.1f} s, {browser.memory('VmRSS'):.0f} MiB")
    try:
        ask(browser, cache, records)
    finally:
        browser.end()


def ask(browser: Browser, cache: Path, records: int) -> None:
    """Ask for one page after the other, and print how long each takes."""
    table, last = f"/d/{DATASET}/rows/records", records // 50
    told = {"first time, whole manifest read": browser.ask("/", 1)}
    told |= {
        "data sets": browser.ask("/"),
        "data set": browser.ask(f"/d/{DATASET}"),
        "shards": browser.ask(f"/d/{DATASET}/shards/records"),
    }
    print(f"before the index, peak {browser.memory('VmHWM'):.0f} MiB")
    _print(told)
    told = {"first page": browser.ask(table), "last page": browser.ask(f"{table}?page={last}")}
    told["last record"] = browser.ask(f"{table}/{records - 1}")
    told["search, of what is there"] = browser.ask(f"{table}?q=word7777")
    print("while the index is built")
    _print(told)
    began, before = time.perf_counter(), browser.worked_s()
    while not (progress := json.loads(browser.client.get(f"{table}/progress").content))["complete"]:
        time.sleep(2)
    size = sum(path.stat().st_size for path in cache.rglob("*.sqlite*"))
    took, peak = time.perf_counter() - began, browser.memory("VmHWM")
    worked = browser.worked_s() - before
    print(f"index of {progress['of']:,} shards: {took:.0f} s more, {worked:.0f} s of CPU; {size / 1e6:,.0f} MB")
    print(f"peak {peak:.0f} MiB")
    searches = {
        "rare word": "q=word7777",
        "word of nearly every record": "q=word0",
        "the same, page 150": "q=word0&page=150",
        "phrase": "q=%22word0+word1%22",
        "two words, one not": "q=word5+word9+-word1",
        "record id": f"q=r-00000000-{records - 1:08d}",
        "type": "f.type=letter+0",
        "type and language, page 5": "f.type=letter+0&f.language=German&page=5",
        "nothing": "q=wordless",
        "word and length": "q=word0&most=10",
        "group": "about=contact",
    }
    told = {name: browser.ask(f"{table}?{query}") for name, query in searches.items()}
    told |= {
        "first page": browser.ask(table),
        "last page": browser.ask(f"{table}?page={last}"),
        "last record": browser.ask(f"{table}/{records - 1}"),
    }
    print("with the index")
    _print(told)
    waited, worked, _ = browser.ask(f"/d/{DATASET}/charts", 1)
    print(f"charts, first time {waited:.1f} s, {worked:.1f} s of CPU; peak {browser.memory('VmHWM'):.0f} MiB")


def _print(told: dict[str, tuple[float, float, int]]) -> None:
    for name, (waited, worked, size) in told.items():
        print(f"  {name:34} {waited * 1000:7.0f} ms, {worked * 1000:6.0f} ms of CPU {size / 1000:6.0f} KB", flush=True)


if __name__ == "__main__":
    main()
