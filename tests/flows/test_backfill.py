"""What a backfill chooses, and how lineage follows; the stages are made in this process."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.backfill import Chosen, Selection, at_once, choose, stages_of
from flows.cli import app
from flows.config import ConfigError, RunConfig, load_run
from flows.matrix.look import Matrix, matrix_of
from flows.matrix.markdown import matrix_markdown
from flows.matrix.page import matrix_page
from flows.matrix.terminal import strip
from infra.shards.failures import FailureNotes
from infra.shards.manifest import ShardSummary
from infra.shards.matrix import Cell, MatrixRow
from infra.shards.plan import plan_over
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.records import TRIPLETS
from tasks.sanitization.steps import input_hashes, triplets_store
from tasks.synthesis.outcome import Reject
from tasks.synthesis.steps import records_store
from tests.flows.conftest import MadeSet

cli = CliRunner()
FIRST, SECOND, THIRD, FOURTH = (ShardRange(start, start + 6) for start in (0, 6, 12, 18))


@pytest.fixture
def run(made_set: MadeSet, tmp_path: Path) -> RunConfig:
    """Two finished shards of records of four that are wanted; nobody has sanitized any."""
    shutil.copytree(made_set.folder, tmp_path / "tiny")
    return load_run(made_set.run_file, {"root": str(tmp_path), "records": 24})


def chosen(run: RunConfig, stage: str = "records", most: int | None = None, **said: Any) -> Chosen:
    selection = Selection(stages=(stage,), **said)
    (only,) = stages_of(run, selection, None)
    return choose(only, selection, most)


def shards(found: Chosen) -> list[ShardRange]:
    return [each.shard for each in found.shards]


def failed(store: StageStore, shard: ShardRange) -> None:
    Path(str(store.layout.open_journal(shard))).parent.mkdir(parents=True, exist_ok=True)
    Path(str(store.layout.open_journal(shard))).write_bytes(b"")
    FailureNotes(store.layout).put(shard, ConnectionError("no answer from the model"))


def test_what_is_missing_is_chosen_and_what_is_finished_is_not(run: RunConfig) -> None:
    assert shards(chosen(run)) == [THIRD, FOURTH]


def test_a_bound_leaves_the_rest_for_the_next_run(run: RunConfig) -> None:
    found = chosen(run, most=1, order="descending")
    assert (shards(found), found.rest) == ([FOURTH], 1)


def test_a_failed_shard_is_chosen_by_its_state_and_reason_and_is_not_merely_missing(run: RunConfig) -> None:
    failed(records_store(run.root, run.dataset), FOURTH)
    assert shards(chosen(run)) == [FOURTH, THIRD]  # begun ones have paid
    assert shards(chosen(run, states=("failed",))) == [FOURTH]
    (told,) = [chosen(run).standing(each) for each in chosen(run).shards if each.shard == FOURTH]
    assert told == "failed: ConnectionError: no answer from the model"
    assert shards(chosen(run, reason="NO ANSWER")) == [FOURTH]
    assert shards(chosen(run, reason="out of room")) == []
    assert shards(chosen(run, reprocess="missing")) == [THIRD]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"rows": ShardRange(8, 13), "order": "ascending"}, [SECOND, THIRD]),
        ({"names": (FIRST.name,)}, [FIRST]),
        ({"states": ("committed",), "order": "descending"}, [SECOND, FIRST]),
        ({"order": "oldest_first"}, [THIRD, FOURTH, FIRST, SECOND]),  # never made is oldest
        ({"made_before": datetime(2020, 1, 1, tzinfo=UTC)}, [THIRD, FOURTH]),
        ({"made_before": datetime.now(UTC) + timedelta(days=1), "order": "ascending"}, [FIRST, SECOND, THIRD, FOURTH]),
    ],
)
def test_a_selection_names_shards_by_rows_name_state_or_age(
    run: RunConfig, said: dict[str, Any], expected: list[ShardRange]
) -> None:
    assert shards(chosen(run, reprocess="all", **said)) == expected


def commit_triplets(store: StageStore, records: StageStore, shard: ShardRange, spec: str) -> None:
    """Commit a shard of triplets in which every record was rejected."""
    rows = records.read_shard("records", shard, ["record_id", "index"]).to_pylist()
    tables = {"triplets": TRIPLETS.empty_table(), "triplet_rejects": _rejects(rows)}
    with store.acquire(shard) as lease:
        store.commit(
            shard,
            tables,
            lease,
            len(rows),
            spec_hash=spec,
            input_hashes=input_hashes(records, shard),
            summary=ShardSummary(notes={"filtered": 1, "quarantined": len(rows) - 1}),
        )


def _rejects(rows: list[dict[str, Any]]) -> Any:
    from tasks.sanitization.outcome import tables
    from tasks.synthesis.outcome import Identity, Spent

    return tables(
        Reject(Identity(row["record_id"], row["index"], 1, "m", "English"), "quarantined", "spans-1", "refusal", "no",
               "<b>no</b>", Spent({}, 0.0))
        for row in rows
    )["triplet_rejects"]  # fmt: skip


def test_only_the_shard_below_whose_input_has_changed_is_made_again(run: RunConfig) -> None:
    from flows.sanitize import planned_sanitization

    job = planned_sanitization(run)
    for shard in (FIRST, SECOND):
        commit_triplets(job.store(), job.records(), shard, job.spec_hash())
    assert shards(chosen(run, "triplets", reprocess="stale")) == []
    records = job.records()
    was = records.manifest.record(SECOND)
    tables = {table: records.read_shard(table, SECOND) for table in records.tables}
    with records.acquire(SECOND) as lease:  # one record fewer, and so other bytes
        records.commit(
            SECOND,
            tables | {"records": tables["records"].slice(1)},
            lease,
            was.rows - 1,
            spec_hash=was.spec_hash,
            input_hashes={},
            summary=was.summary,
        )
    assert shards(chosen(run, "triplets", reprocess="stale")) == [SECOND]
    assert shards(chosen(run, "triplets", reprocess="stale", rows=ShardRange(0, 6))) == []
    assert shards(chosen(run, reprocess="stale")) == [THIRD, FOURTH]


def test_shards_at_once_bound_workers_and_what_each_has_in_hand(run: RunConfig) -> None:
    wide = run.model_copy(update={"workers": 4, "shards_each": 4})
    assert [(each.workers, each.shards_each) for each in (at_once(wide, n) for n in (2, 4, 11))] == [
        (2, 1),
        (4, 1),
        (4, 2),
    ]
    assert at_once(wide, None) == wide


def test_an_evaluation_needs_a_judge(run: RunConfig) -> None:
    with pytest.raises(ConfigError, match="--evaluator"):
        chosen(run, "evaluation")


def test_a_dry_run_says_what_and_how_much_and_does_nothing(run: RunConfig, made_set: MadeSet) -> None:
    flags = ["-c", str(made_set.run_file), "--root", str(run.root), "-n", "24"]
    result = cli.invoke(app, ["backfill", *flags, "--most", "1", "--dry-run"])
    assert result.exit_code == 0, result.stderr
    told = " ".join(result.stdout.split())
    assert "records 1 shard part-00000012-00000018 (missing)" in told
    assert "1 more shard of the selection: for the next run" in told
    assert "at most" in told
    assert "Nothing was done" in told
    assert len(records_store(run.root, run.dataset).manifest.shards()) == 2


@pytest.mark.parametrize("flags", [["--stages", "poems"], ["--shards", "5"], ["--state", "asleep"], ["--select", "x"]])
def test_a_wrong_flag_is_named(made_set: MadeSet, flags: list[str]) -> None:
    result = cli.invoke(app, ["backfill", "-c", str(made_set.run_file), *flags])
    assert result.exit_code == 2
    assert flags[0] in result.stderr


def test_a_state_that_the_choice_never_makes_is_refused_with_the_one_that_does(made_set: MadeSet) -> None:
    for state, choice in (("stale", "stale"), ("committed", "all")):
        result = cli.invoke(app, ["backfill", "-c", str(made_set.run_file), "--state", state])
        assert result.exit_code == 2
        assert f"add --reprocess {choice}" in " ".join(result.stderr.split())


def test_a_named_shard_that_is_not_made_says_where_it_stands(run: RunConfig, made_set: MadeSet) -> None:
    flags = ["backfill", "-c", str(made_set.run_file), "--root", str(run.root), "-n", "24", "--stages", "records"]
    other = ShardRange(600, 606).name
    result = cli.invoke(app, [*flags, "--select", FIRST.name, "--select", other, "--select", THIRD.name, "--dry-run"])
    assert result.exit_code == 0, result.stderr
    assert f"{FIRST.name} is left out: records: committed" in result.stdout
    assert f"{other} is left out: no shard of these stages is called so" in result.stdout
    assert f"{THIRD.name} is left out" not in result.stdout
    assert "--reprocess all" in result.stdout


# --- the matrix ---


def test_the_matrix_shows_each_state_with_its_reason_and_counts_quarantined_rows(run: RunConfig) -> None:
    folder = run.root / run.dataset
    records, triplets = records_store(run.root, run.dataset), triplets_store(run.root, run.dataset)
    commit_triplets(triplets, records, FIRST, "spec")
    failed(triplets, SECOND)
    with records.acquire(THIRD):
        found = matrix_of(folder)
    assert [row.stage for row in found.rows] == ["records", "triplets"]
    above, below = found.rows
    assert [cell.state for cell in above.cells] == ["committed", "committed", "running"]
    assert [(cell.state, cell.why) for cell in below.cells] == [
        ("committed", ""),
        ("failed", "ConnectionError: no answer from the model"),
    ]
    rejected = triplets.manifest.record(FIRST).files["triplet_rejects"].rows
    assert (below.filtered, below.quarantined) == (1, rejected - 1)


def test_a_shard_above_that_nobody_has_begun_below_is_missing_there(run: RunConfig) -> None:
    records, triplets = records_store(run.root, run.dataset), triplets_store(run.root, run.dataset)
    commit_triplets(triplets, records, FIRST, "spec")
    assert [cell.state for cell in matrix_of(run.root / run.dataset).rows[1].cells] == ["committed", "missing"]


def test_an_entry_that_cannot_be_read_hides_no_other(run: RunConfig) -> None:
    records = records_store(run.root, run.dataset)
    Path(str(records.manifest.path(FIRST))).write_text("{", encoding="utf-8")
    assert [cell.state for cell in matrix_of(run.root / run.dataset).rows[0].cells] == ["damaged", "committed"]


HOSTILE = Matrix(
    Path("data") / "<b>x",
    datetime(2026, 11, 30, tzinfo=UTC),
    (MatrixRow("records", (Cell(FIRST, "committed"), Cell(SECOND, "failed", '<script>alert("1")</script>|*a*'))),),
)


def test_the_page_escapes_and_asks_for_nothing() -> None:
    page = matrix_page(HOSTILE)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>x" not in page
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")


def test_the_artifact_escapes_markdown() -> None:
    told = matrix_markdown(HOSTILE)
    assert "<script>" not in told
    assert r"\|\*a\*" in told
    # A column for each state that some shard is in: all of them would not fit beside the dashboard's own.
    assert "| stage | shards | committed | failed | rows | filtered | quarantined |" in told
    assert "| records | 2 | 1 | 1 | 0 | 0 | 0 |" in told


def test_thousands_of_shards_are_a_line_that_shows_the_gravest() -> None:
    cells = [Cell(ShardRange(at, at + 1), "committed") for at in range(2_800)]
    cells[1_400] = Cell(ShardRange(1_400, 1_401), "failed", "no")
    line = strip(cells).plain
    assert len(line) == 64
    assert line == "█" * 32 + "!" + "█" * 31
    page = matrix_page(Matrix(Path("big"), datetime.now(UTC), (MatrixRow("records", tuple(cells)),)))
    assert len(page) < 100_000


def test_a_plan_over_shards_of_another_stage_is_that_of_each_by_itself(run: RunConfig) -> None:
    from functools import partial

    from infra.shards.plan import plan

    records, triplets = records_store(run.root, run.dataset), triplets_store(run.root, run.dataset)
    commit_triplets(triplets, records, FIRST, "spec")
    inputs = partial(input_hashes, records)
    for reprocess in ("missing", "stale", "all"):
        whole = plan_over(triplets, [FIRST, SECOND], "other", inputs, reprocess)
        parts = [plan(triplets, shard, shard.stop, "other", inputs, reprocess) for shard in (FIRST, SECOND)]
        assert list(whole.shards) == [each for part in parts for each in part.shards]
        assert set(whole.todo) == {shard for part in parts for shard in part.todo}


# --- rejected rows ---


def test_rejected_rows_are_counted_and_listed_without_what_models_wrote(run: RunConfig) -> None:
    records, triplets = records_store(run.root, run.dataset), triplets_store(run.root, run.dataset)
    commit_triplets(triplets, records, FIRST, "spec")
    folder = str(run.root / run.dataset)
    counted = " ".join(cli.invoke(app, ["quarantine", "count", folder, "--stage", "triplets"]).stdout.split())
    rows = triplets.manifest.record(FIRST).files["triplet_rejects"].rows
    assert f"triplets quarantined spans refusal {rows}" in counted
    listed = cli.invoke(app, ["quarantine", "list", folder, "--stage", "triplets", "--reason", "refusal"]).stdout
    assert listed.count("spans-1: refusal") == rows
    assert "<b>no</b>" not in listed
    assert "<b>no</b>" in cli.invoke(app, ["quarantine", "list", folder, "--stage", "triplets", "--texts"]).stdout
    assert "--filtered" in cli.invoke(app, ["quarantine", "list", folder, "--step", "draft"]).stdout


def test_repair_says_what_it_would_do_and_does_it_only_when_told(run: RunConfig) -> None:
    folder = run.root / run.dataset
    file = Path(str(folder)) / "records" / f"{FIRST.name}.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    looked = cli.invoke(app, ["shards", "repair", str(folder)])
    assert looked.exit_code == 4
    assert "-> set aside with its entry" in looked.stdout
    assert file.exists()
    done = cli.invoke(app, ["shards", "repair", str(folder), "--yes"])
    assert done.exit_code == 0
    assert not file.exists()
    assert shards(chosen(run)) == [FIRST, THIRD, FOURTH]
    again = cli.invoke(app, ["shards", "repair", str(folder)])
    assert "orphan" in again.stdout  # the other table of the shard: resuming makes it again
