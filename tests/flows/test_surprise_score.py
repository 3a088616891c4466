"""Texts and chats through the flow, by a tiny model with random weights, on local Ray."""

import re
from pathlib import Path

import numpy as np
import orjson
import pytest

from flows.commands.surprise.score import print_scored
from flows.surprise_score import ScoreRun, job_of, plan_scores, score
from tasks.surprise.documents import Document
from tasks.surprise.policy import Prompted, Unprompted
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.input import read
from tasks.surprise.reading.raw import InputUnfit
from tasks.surprise.reading.steps import InputConfig
from tasks.surprise.reference.steps import ModelUnfit, ReferenceModel, opened
from tasks.surprise.scoring.scorer import PLAIN, Pass, Scored, Text
from tasks.surprise.store.steps import read_scores
from tasks.synthesis.steps import records_store
from tests.flows.conftest import MadeSet
from tests.tasks.surprise.scoring.tiny import TEXTS, chat_tokenizer, qwen3

BOUND = 1e-4  # nats
PROMPT = "What follows is private:\n"
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    qwen3().save_pretrained(folder)
    chat_tokenizer(TEMPLATE).save_pretrained(folder)
    return folder


def run_of(folder: Path, model: Path, *rows: object, columns: Columns | None = None, **changed: object) -> ScoreRun:
    (folder / "in.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    settings: dict[str, object] = {
        "dataset": "set",
        "root": folder / "data",
        "input": InputConfig(paths=(folder / "in.jsonl",), columns=columns or Columns()),
        "model": ReferenceModel(name=str(model), context=32, stride=8),
        "shard_size": 4,
    }
    return ScoreRun.model_validate(settings | changed)


async def direct(model: Path, passes: list[Pass], *texts: str) -> list[Scored]:
    async with opened(ReferenceModel(name=str(model), context=32, stride=8, threads=1)) as reference:
        return list(reference.scorer.score([Text(text) for text in texts], passes))


@pytest.mark.ray
@pytest.mark.usefixtures("prefect_server")
async def test_the_flow_gives_what_the_scorer_gives_and_a_second_time_does_nothing(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passes = [PLAIN, Pass("prompted", PROMPT)]
    run = run_of(tmp_path, model, *({"text": text} for text in TEXTS), passes=passes, workers=2)
    report = score(run)
    texts = [text for text in TEXTS if text]
    expected = await direct(model, passes, *texts)
    scored = read_scores(tmp_path / "data", "set")
    assert scored.texts == texts
    assert scored.tokens.ids.tolist() == np.concatenate([each.ids for each in expected]).tolist()
    for name, conditioning in (("plain", Unprompted()), ("prompted", Prompted(prompt=PROMPT))):
        right = np.concatenate([each.nll[name] for each in expected])  # type: ignore[index]
        np.testing.assert_allclose(scored.batch(conditioning).scores, right, atol=BOUND, rtol=0)
    assert sum(receipt.documents for receipt in report.receipts) == len(texts)
    assert [receipt.reasons for receipt in report.receipts] == [{"empty_text": 1}, {}, {}]

    job, rows = job_of(run), run.input.open()
    planned = plan_scores(run, job, rows, "missing_and_failed")
    print_scored(run, report, job.store().layout.tables["scores"], planned)
    shown = capsys.readouterr().out
    assert re.search(r"documents +10 ", shown)
    assert re.search(r"rejected +1 +1 empty_text", shown)
    assert re.search(r"mean NLL, plain +\d+\.\d{3} ", shown)
    assert planned.counts() == {"committed": 3}
    assert score(run).receipts == ()


def test_an_input_with_fewer_rows_than_were_scored_is_another_input(model: Path, tmp_path: Path) -> None:
    run = run_of(tmp_path, model, {"text": "a"}, {"text": "b"}, shard_size=1)
    job = job_of(run)
    (job.store().layout.manifest).mkdir(parents=True)
    (job.store().layout.manifest / "part-00000001-00000002.json").touch()
    shorter = run_of(tmp_path, model, {"text": "a"}, shard_size=1)
    with pytest.raises(InputUnfit, match="has scores of rows up to 2, the input has 1"):
        plan_scores(shorter, job, shorter.input.open(), "missing_and_failed")


@pytest.mark.parametrize("reads", [{"context": 1024}, {"context": 32, "stride": 32}])
async def test_a_context_or_stride_that_the_model_cannot_have_is_told(model: Path, reads: dict[str, int]) -> None:
    with pytest.raises(ModelUnfit, match=r"tiny: .*(1024|32)"):
        async with opened(ReferenceModel(name=str(model), threads=1, **reads)):
            pass


def test_chats_need_a_model_with_a_template(model: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    qwen3().save_pretrained(plain)
    chat_tokenizer("").save_pretrained(plain)
    with pytest.raises(ModelUnfit, match="no chat template"):
        job_of(run_of(tmp_path, plain, {"chat": []}, columns=Columns(messages="chat")))
    job_of(run_of(tmp_path, plain, {"text": "a"}))
    job_of(run_of(tmp_path, model, {"chat": []}, columns=Columns(messages="chat")))


def test_records_of_the_factory_are_an_input_with_their_attributes_as_labels(made_set: MadeSet) -> None:
    rows = InputConfig(paths=(made_set.folder,), columns=Columns(strata=("language",))).open()
    records = records_store(made_set.folder.parent, made_set.folder.name).read("records").to_pylist()
    documents = read(rows.slices(0, rows.rows)).items
    assert rows.rows == len(records) > 0
    rows.check_ids()
    for document, record in zip(documents, records, strict=True):
        assert isinstance(document, Document)
        assert (document.id, document.group, document.text) == (
            record["record_id"],
            record["record_id"],
            record["text"],
        )
        assert document.strata == {"language": "English"}
        values = {each["key"]: each["value"].casefold().split() for each in record["attributes"]}
        assert document.labelled
        assert document.labels
        for label in document.labels:
            assert document.text[label.start : label.end].casefold().split() == values[label.category]


def test_a_data_set_without_finished_records_is_told(tmp_path: Path) -> None:
    (tmp_path / "set" / "manifest" / "records").mkdir(parents=True)
    with pytest.raises(InputUnfit, match="no finished records"):
        InputConfig(paths=(tmp_path / "set",)).open()
