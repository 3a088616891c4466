"""The command against the simulator, which writes any text: what matters is what comes through and what does not."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from flows import cli
from flows.clean import batch_of
from flows.cleaning_model import model_asked, ready
from flows.config import ConfigError, Embedded, Remote, Vllm
from infra.engines.causal_lm import CausalLmConfig
from infra.engines.models import ModelMissing
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from tasks.cleaning.private_file import read_map
from tasks.cleaning.steps import journal_folder

TEXT = "Amina Karim came on 12 May 2019. " * 60  # long enough for whatever the simulator writes instead


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig()) as running:
        yield running


@pytest.fixture
def model(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Flags that lead to the simulator, which forgets what it has seen."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    simulator.set_faults(0)
    simulator.reset()
    return ["--model", "openai:simulator", "--base-url", simulator.base_url]


def clean(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(cli.app, ["clean", *map(str, arguments)], input=text)


def test_a_text_goes_in_and_what_the_model_wrote_comes_out(tmp_path: Path, model: list[str]) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text(TEXT)
    report = tmp_path / "report.json"
    made = clean(letter, "-i", "Hide her.", "--value", "name=Amina Karim", "--report", report, *model)
    assert made.exit_code == 0, made.output
    assert made.stdout.strip()
    assert "Amina" not in made.stdout
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    (value,) = json.loads(report.read_text())["values"]
    assert len(value["places"]) == 60
    assert value["remaining"] == []


def test_standard_input_gives_the_same_as_a_file(tmp_path: Path, model: list[str]) -> None:
    letter, out = tmp_path / "letter.txt", tmp_path / "out" / "clean.txt"
    letter.write_text(TEXT)
    assert clean(letter, "-i", "Hide her.", "-o", out, *model).exit_code == 0
    assert clean("-", "-i", "Hide her.", *model, text=TEXT).stdout == out.read_text()


@pytest.mark.parametrize("fault", ["empty", "refusal", "truncated", "think_unclosed", "null_content"])
def test_an_answer_that_cannot_be_used_is_not_passed_on(
    tmp_path: Path, model: list[str], simulator: Simulator, fault: str
) -> None:
    letter, out = tmp_path / "letter.txt", tmp_path / "clean.txt"
    letter.write_text(TEXT)
    simulator.set_faults(1.0, fault)  # type: ignore[arg-type]
    made = clean(letter, "-i", "Hide her.", "-o", out, *model)
    assert made.exit_code == 3
    assert "not cleaned, nothing is written" in made.stderr
    assert "Amina" not in made.output
    assert not out.exists()


def test_a_text_that_must_not_be_cut_and_is_too_long_is_a_usage_error(tmp_path: Path, model: list[str]) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text(TEXT * 20)
    made = clean(letter, "-i", "Hide her.", "--no-chunks", *model)
    assert (made.exit_code, made.stdout) == (2, "")
    assert "too_long" in made.stderr


def test_a_server_that_does_not_answer_is_told_soon(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text(TEXT)
    made = clean(letter, "-i", "x", "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1")
    assert made.exit_code == 3
    assert "nothing answers" in made.stderr


def test_pseudonyms_are_one_in_all_texts_and_can_be_undone(tmp_path: Path, model: list[str]) -> None:
    known = tmp_path / "map.json"
    letter, back = tmp_path / "letter.txt", tmp_path / "pseudonymous.txt"
    letter.write_text(TEXT)
    flags = ("-i", "Hide her.", "--pseudonyms", known, "--value", "name=Amina Karim")
    assert clean(letter, *flags, *model).exit_code == 0
    first = read_map(known)
    assert clean(letter, *flags, *model).exit_code == 0
    assert read_map(known) == first
    back.write_text(f"{first.pseudonyms[0].pseudonym} wrote.")
    assert clean(back, "--restore", known).stdout == "Amina Karim wrote."


def test_a_column_is_restored_as_well(tmp_path: Path, model: list[str]) -> None:
    known, source, target = tmp_path / "map.json", tmp_path / "a.parquet", tmp_path / "b.parquet"
    clean("-", "-i", "x", "--pseudonyms", known, "--value", "name=Ann", *model, text=TEXT)
    pseudonym = read_map(known).pseudonyms[0].pseudonym
    pq.write_table(pa.table({"text": [f"{pseudonym} came", None]}), source)
    assert clean(source, "--restore", known, "-o", target).exit_code == 0
    assert pq.read_table(target)["text"].to_pylist() == ["Ann came", None]


def test_a_batch_with_rejects_is_written_and_exits_with_3_and_goes_on(
    tmp_path: Path, model: list[str], simulator: Simulator
) -> None:
    source, target = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    source.write_text("".join(json.dumps({"text": f"{number}: {TEXT}"}) + "\n" for number in range(5)))
    simulator.set_faults(1.0, "empty")
    made = clean(source, "-i", "Hide her.", "-o", target, *model)
    assert made.exit_code == 3
    assert "5 texts not cleaned: 5 empty_reply" in made.stderr
    assert [json.loads(line) for line in target.read_text().splitlines()] == [{"text": None}] * 5
    simulator.set_faults(0)
    assert clean(source, "-i", "Hide her.", "-o", target, *model).exit_code == 0
    assert all(json.loads(line)["text"] for line in target.read_text().splitlines())
    again = clean(source, "-i", "Hide her.", "-o", target, *model)
    assert again.exit_code == 2
    assert "is there already" in again.stderr


def test_a_second_call_takes_nothing_from_the_one_that_is_at_work(tmp_path: Path, model: list[str]) -> None:
    source, target = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    source.write_text(json.dumps({"text": TEXT}))
    with journal_folder(target), batch_of(source, target, "text") as batch:
        second = clean(source, "-i", "Hide her.", "-o", target, *model)
        assert second.exit_code == 3
        assert "another process cleans into it" in second.stderr
        batch.finish()
    assert target.exists()


@pytest.mark.faults
def test_a_killed_batch_goes_on_and_asks_for_nothing_twice(
    tmp_path: Path, model: list[str], simulator: Simulator
) -> None:
    source, target = tmp_path / "notes.parquet", tmp_path / "clean.parquet"
    rows = 600
    pq.write_table(pa.table({"id": range(rows), "text": [f"{number}: {TEXT}" for number in range(rows)]}), source)
    command = [sys.executable, "-c", "from flows.cli import main; main()", "clean", str(source), "-i", "Hide her."]
    command += ["-o", str(target), *model]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ) as killed:
        simulator.wait(400)
        killed.send_signal(signal.SIGKILL)
    assert not target.exists()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    made = pq.read_table(target)
    assert made["id"].to_pylist() == list(range(rows))
    assert made["text"].null_count == 0
    asked = simulator.statistics()
    assert asked.requests - asked.bodies <= 64  # asked twice: those in flight at the kill
    assert rows <= asked.bodies < 1.05 * rows  # a row may take a second question
    assert not list(tmp_path.glob("*.journal"))


def test_models_are_found_by_what_is_named(tmp_path: Path) -> None:
    (tmp_path / "run" / "model").mkdir(parents=True)
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / "run" / "model" / name).write_text("{}")
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    trained = model_asked(None, str(tmp_path / "run"), None, None).engine
    assert isinstance(trained, CausalLmConfig)
    assert trained.model == str(tmp_path / "run" / "model")
    for spec, kind in (
        (str(tmp_path / "a.gguf"), Embedded),
        ("vllm:runs/cleaner/model", Vllm),
        ("openai:gpt", Remote),
        (None, Embedded),
    ):
        assert isinstance(model_asked(None, spec, None, None).engine.engine, kind)  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="--base-url"):
        model_asked(None, "simulator:s", "http://127.0.0.1:1/v1", None)


def test_a_folder_that_is_no_model_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    def said(spec: str) -> str:
        with pytest.raises(ConfigError) as told:
            model_asked(None, spec, None, None)
        return str(told.value)

    folder = str(tmp_path)
    assert "no such folder or file" in said(f"{folder}/nowhere")
    assert "no such folder" in said(f"transformers:{folder}/nowhere")
    assert "no config.json in it" in said(folder)
    (tmp_path / "job.json").write_text("{}")
    assert "its training is not finished: call `privasis train cleaner` again" in said(folder)
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    assert "no tokenizer in it" in said(folder)


@pytest.mark.parametrize("content", [b"[[[", b"\xff", b"[" * 100_000])
def test_a_configuration_that_is_no_json_is_told_before_anything_is_loaded(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("torch")
    (tmp_path / "config.json").write_bytes(content)
    (tmp_path / "tokenizer.json").write_text("{}")
    with (
        pytest.raises(ModelMissing, match=r"config\.json is not JSON"),
        ready(model_asked(None, str(tmp_path), None, None)),
    ):
        pass


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("letter.txt",), "--instruction"),
        (("letter.txt", "-i", "x", "--value", "Ann"), "KEY=VALUE"),
        (("letter.txt", "-i", "x", "-o", "letter.txt"), "is the text itself"),
        (("gone.txt", "-i", "x"), "gone.txt: no such file or folder; - reads standard input"),
        (("picture.png", "-i", "x"), "byte 0 is not UTF-8"),
        ((".", "-i", "x"), "--output"),
        (("nothing.parquet", "-i", "x", "-o", "b.parquet"), "no such file"),
        (("letter.txt", "--restore", "nothing.json"), "no such map"),
    ],
)
def test_wrong_usage_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letter.txt").write_text("Ann")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n")
    made = clean(*arguments)
    assert made.exit_code == 2
    assert said in made.stderr
