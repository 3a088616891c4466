"""How a run file asks for batches."""

from pathlib import Path

import pytest

from flows.config import ConfigError, RunConfig, load_run
from flows.engines import planned_job
from infra.llm.connect import Batching

MODEL = """
[[models]]
{batch}
[models.engine]
kind = "{kind}"
model = "gpt-4.1-mini"
"""


def loaded(folder: Path, batch: str, kind: str = "openai") -> RunConfig:
    file = folder / "run.toml"
    file.write_text(MODEL.format(batch=batch, kind=kind), encoding="utf-8")
    return load_run(file, {})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", None),
        ("batch = false", None),
        ("batch = true", Batching()),
        ("batch = { poll_s = 600 }", Batching(poll_s=600)),
    ],
)
def test_batches_are_asked_for_by_a_word_or_a_table(tmp_path: Path, written: str, expected: Batching | None) -> None:
    assert loaded(tmp_path, written).models[0].batch == expected


def test_an_engine_without_a_batch_api_refuses_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"models.*'litellm' has no Batch API"):
        loaded(tmp_path, "batch = true", "litellm")


def test_batches_shape_no_row_and_so_make_no_finished_shard_stale(tmp_path: Path) -> None:
    with_batches, without = loaded(tmp_path, "batch = true"), loaded(tmp_path, "")
    assert planned_job(with_batches).spec_hash() == planned_job(without).spec_hash()
    assert planned_job(with_batches).models[0].batching == Batching()
