"""``privasis split``: nobody is in two splits, more data moves nobody, and what is told stands beside the paper's."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.config import RunConfig
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from tasks.evaluation.splits import Split
from tasks.evaluation.splitting.steps import read_splits
from tasks.synthesis.outcome import Record, tables
from tasks.synthesis.steps import records_store
from tests.tasks.sanitization.shards import made, record

NAMES = ("Ana", "Rui", "Eva", "Ana", "Rui", "Eva")
FIRST, SECOND = ShardRange(10, 13), ShardRange(13, 16)


async def sanitize(root: Path, shard: ShardRange, names: Sequence[str]) -> None:
    """Commit records about these people, and triplets of them."""
    made_up = [record(index) for index in range(shard.start, shard.stop)]
    records = [
        replace(each, profile=replace(each.profile, first_name=name))
        for each, name in zip(made_up, names, strict=True)
        if isinstance(each, Record)
    ]
    store = records_store(root, "tiny")
    with store.acquire(shard) as lease:
        store.commit(shard, tables(records), lease, len(shard), spec_hash="00", input_hashes={}, summary=ShardSummary())
    await made(RunConfig(dataset="tiny", root=root, seed=7), shard)


def split(root: Path, *flags: str) -> tuple[dict[str, Split], str]:
    result = CliRunner().invoke(app, ["split", "--root", str(root), "--dataset", "tiny", *flags])
    assert result.exit_code == 0, result.stderr
    return dict(read_splits(root, "tiny") or {}), result.stdout


async def test_a_person_s_records_are_in_one_split_and_more_data_moves_none(tmp_path: Path) -> None:
    await sanitize(tmp_path, FIRST, NAMES[:3])
    flags = ("--test", "0.4", "--validation", "0.3", "--split-seed", "1")
    before, _ = split(tmp_path, *flags)
    await sanitize(tmp_path, SECOND, NAMES[3:])
    after, _ = split(tmp_path, *flags)
    assert len(before) == 3
    assert before.items() <= after.items()
    by_person: dict[str, set[Split]] = {}
    for index, name in enumerate(NAMES, FIRST.start):
        by_person.setdefault(name, set()).add(after[f"r-00000007-{index:08d}"])
    assert [len(splits) for splits in by_person.values()] == [1, 1, 1]
    assert len(set(after.values())) > 1


@pytest.mark.parametrize("row", ["vanilla, paper 1,042 – 60.0% 57.2 569.3", "hard, paper 1,149 – 87.0% 94.0 619.6"])
async def test_the_figures_stand_beside_the_paper_s(tmp_path: Path, row: str) -> None:
    await sanitize(tmp_path, FIRST, NAMES[:3])
    _, out = split(tmp_path)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert row in lines
    assert sum(line.startswith(("train ", "validation ", "test ")) for line in lines) >= 1
