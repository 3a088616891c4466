"""The deployments of `deploy/prefect.yaml`: their forms, what they build, and what their runs tell."""

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect import Flow
from prefect.cli.deploy._models import DeploymentConfig, PrefectYamlModel
from prefect.cli.deploy._triggers import DeploymentTriggerAdapter
from prefect.client.schemas.objects import State
from prefect.exceptions import CancelledRun
from prefect.flows import load_flow_from_entrypoint
from prefect.server.events.actions import RunDeployment
from prefect.server.events.schemas.labelling import LabelDiver
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools.hydration import HydrationContext, hydrate
from prefect.utilities.schema_tools.validation import validate

from flows.artifacts.markdown import cell, code, escaped, fenced
from flows.artifacts.progress import Progress
from flows.artifacts.run import key_of
from flows.artifacts.sample import record_block, triplet_block
from flows.commands.errors import Code, RunFailed
from flows.commands.flags import RunFlags
from flows.commands.run_of import run_of
from flows.config import ConfigError
from flows.deployed.asked import flags_of, here, place, run_file_at
from flows.deployed.parameters import SAFE
from flows.deployed.plain_logs import LOGGERS, in_a_line
from flows.deployed.running import carry_out
from infra.llm.types import BackendUnavailable
from infra.ray.worker import JobStopped
from infra.settings import settings
from infra.shards.location import ObjectPath

PROJECT = Path(__file__).parents[2]
YAML = yaml.safe_load((PROJECT / "deploy" / "prefect.yaml").read_text(encoding="utf-8"))
DEPLOYMENTS: dict[str, DeploymentConfig] = {
    str(each.name): each for each in PrefectYamlModel.model_validate(YAML).deployments
}


@pytest.fixture(scope="module")
def deployed() -> dict[str, Flow[..., Any]]:
    """The flow of each deployment, loaded as a worker does."""
    with pytest.MonkeyPatch.context() as here:
        here.chdir(PROJECT)
        return {name: load_flow_from_entrypoint(str(each.entrypoint)) for name, each in DEPLOYMENTS.items()}


def test_every_parameter_of_every_deployment_has_a_description_and_a_form_without_nesting(
    deployed: dict[str, Flow[..., Any]],
) -> None:
    flat = {"string", "integer", "number", "boolean", "null", "array"}
    for name, flow in deployed.items():
        schema = parameter_schema(flow).model_dump()
        assert not schema["definitions"], name
        for parameter, shape in schema["properties"].items():
            assert len(shape.get("description", "")) > 8, f"{name}: {parameter}"
            kinds = {each.get("type") for each in shape.get("anyOf", [shape])}
            assert kinds <= flat, f"{name}: {parameter}: {kinds}"


def test_every_number_of_a_form_has_bounds_and_every_choice_is_a_list(
    deployed: dict[str, Flow[..., Any]],
) -> None:
    choices = {"engine", "reprocess", "sample", "redact", "action", "too_long", "kind", "scale", "benchmark", "goal"}
    for name, flow in deployed.items():
        for parameter, shape in parameter_schema(flow).model_dump()["properties"].items():
            for each in shape.get("anyOf", [shape]):
                if each.get("type") in ("integer", "number"):
                    assert each.keys() & {"minimum", "exclusiveMinimum"}, f"{name}: {parameter}"
                    most = each.get("maximum", each.get("exclusiveMaximum"))
                    assert most is not None, f"{name}: {parameter}: a number over 64 bits fails without a word"
                    assert most <= SAFE, f"{name}: {parameter}: a form rounds it"
            if parameter in choices:
                assert shape["enum"], f"{name}: {parameter}"


def test_a_flow_is_called_as_its_deployment(deployed: dict[str, Flow[..., Any]]) -> None:
    assert [flow.name for flow in deployed.values()] == list(deployed)  # `prefect deployment run NAME/NAME`


def test_the_parameters_that_are_shipped_fit_the_forms(deployed: dict[str, Flow[..., Any]]) -> None:
    for name, flow in deployed.items():
        schema = parameter_schema(flow).model_dump()
        validate(DEPLOYMENTS[name].parameters, schema, raise_on_error=True, ignore_required=True)
    with pytest.raises(Exception, match="0 is less than the minimum"):  # the check can fail
        validate({"records": 0}, parameter_schema(deployed["synthesize"]).model_dump(), raise_on_error=True)


def test_nothing_runs_by_itself_before_somebody_switches_it_on() -> None:
    schedules = [schedule for each in YAML["deployments"] for schedule in each.get("schedules", [])]
    triggers = _triggers()
    assert [schedule["slug"] for schedule in schedules] == ["nightly", "weekly"]
    assert len(triggers) == 2
    assert not any(schedule["active"] for schedule in schedules)
    assert not any(trigger["enabled"] for trigger in triggers)


def rendered(parameters: dict[str, Any]) -> dict[str, Any]:
    """What the server makes of an action's parameters, for labels of an event of ours."""
    labels = LabelDiver({"privasis.dataset": "mine", "privasis.root": "s3://bucket/data"})
    wrapped = {name: RunDeployment._wrap_v1_template(text) for name, text in parameters.items()}
    context = HydrationContext(raise_on_error=True, render_jinja=True, jinja_context={"labels": labels})
    found: dict[str, Any] = hydrate(wrapped, context)
    return found


def test_record_shards_are_sanitized_in_batches_and_the_rest_when_none_follows() -> None:
    by_count, by_silence = (DeploymentTriggerAdapter.validate_python(each) for each in _triggers())
    for trigger in (by_count, by_silence):
        assert trigger.for_each == {"privasis.dataset", "privasis.root"}  # type: ignore[union-attr]
        assert rendered(trigger.parameters or {}) == {"dataset": "mine", "root": "s3://bucket/data"}
    assert by_count.threshold == 8  # type: ignore[union-attr]
    assert by_silence.after == {"shard.committed"}  # type: ignore[union-attr]


def test_a_form_builds_the_run_that_the_command_line_builds(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'root = "elsewhere"\nshard_size = 6\n[[models]]\nengine = { kind = "simulator" }\n', encoding="utf-8"
    )
    by_command = run_of(RunFlags(config=file, dataset="mine", records=12, set_=["synthesis.refinement.steps=1"]))
    with flags_of(
        file.read_text(encoding="utf-8"),
        ["synthesis.refinement.steps=1"],
        dataset="mine",
        records=12,
        seed=None,
        root="",
    ) as flags:
        by_form = run_of(flags)
    assert by_form == by_command


def test_without_a_root_in_form_and_run_file_the_worker_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVASIS_ROOT", "/somewhere")
    settings.cache_clear()
    try:
        with flags_of("", engine="simulator") as flags:
            run = run_of(flags)
    finally:
        settings.cache_clear()
    assert str(run.root) == "/somewhere"
    assert run.models[0].name == "simulator"


def test_a_run_file_is_a_text_or_a_name_in_the_folder_of_run_files_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "big.toml").write_text("records = 7\n", encoding="utf-8")
    (tmp_path / "secret.toml").write_text("records = 8\n", encoding="utf-8")
    monkeypatch.setenv("PRIVASIS_RUN_FILES", str(tmp_path / "runs"))
    settings.cache_clear()
    try:
        with run_file_at("big.toml") as path:
            assert path == tmp_path / "runs" / "big.toml"
        with run_file_at("records = 9") as path:
            assert path is not None
            assert path.read_text(encoding="utf-8") == "records = 9"
        assert not path.exists()
        for outside in ("../secret.toml", str(tmp_path / "secret.toml"), "no.toml"):
            with pytest.raises(ConfigError, match=r"there are: big\.toml"), run_file_at(outside):
                pass
    finally:
        settings.cache_clear()


def test_a_place_in_an_object_store_is_taken_where_one_will_do_and_refused_where_none_will() -> None:
    assert place("s3://letters/corpora") == ObjectPath("letters", "corpora")
    assert place("data/letters") == here("data/letters") == Path("data/letters")
    with pytest.raises(ConfigError, match="s3://letters/out: this has to be on the worker's machine"):
        here("s3://letters/out")
    with pytest.raises(ConfigError, match="gs: is no protocol known here"):
        place("gs://letters/out")


def test_a_place_in_an_object_store_becomes_no_folder_of_the_worker(deployed: dict[str, Flow[..., Any]]) -> None:
    there = "s3://letters/x"
    for name, said in (
        ("surprise-calibrate", {"scores": there, "output": f"{there}.json"}),
        ("surprise-mask", {"scores": there, "policy": f"{there}.json", "output": there}),
        ("train-cleaner", {"data": there, "output": there}),
        ("train-masked", {"data": there, "masks": there, "output": "out", "policies": ["SM95.json"]}),
        ("evaluate-extraction", {"model": "model", "corpus": there, "output": there}),
        ("study-masking", {"output": there}),
        ("export", {"dataset": "records", "folder": there}),
        ("clean", {"source": "-", "output": there, "instruction": "names"}),
    ):
        with pytest.raises(ConfigError, match="this has to be on the worker's machine"):
            deployed[name].fn(**said)


def test_a_model_needs_an_engine_and_a_served_one_a_name() -> None:
    with pytest.raises(ConfigError, match="say which engine has it"), flags_of("", model="gpt-4.1-mini"):
        pass
    with pytest.raises(ConfigError, match="engine openai: say which model"), flags_of("", engine="openai"):
        pass
    with flags_of("", engine="openai", model="gpt-4.1-mini") as flags:
        assert flags.model == ["openai:gpt-4.1-mini"]


def _triggers() -> list[dict[str, Any]]:
    return [trigger for each in YAML["deployments"] for trigger in each.get("triggers", [])]


EVIL = "<img src=x onerror=alert(1)> [click](javascript:alert(1)) ![x](http://a/b) `code` **b** | cell\n# head\u202e"


def test_text_of_others_is_no_markup_in_an_artifact() -> None:
    line = escaped(EVIL)
    assert "\n" not in line
    assert "<" not in line
    assert "\u202e" not in line
    for markup in ("[click](", "![x](", "**b**", " | ", "`code`"):
        assert markup not in line
    assert re.sub(r"\\(.)", r"\1", line).replace("&lt;", "<").replace("&amp;", "&").startswith("<img src=x onerror")


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    text = "before\n```\n</pre><script>alert(1)</script>\n`````\nafter"
    opening, *body, closing = fenced(text).split("\n")
    assert opening == "``````text"
    assert closing == "``````"
    assert "\n".join(body) == text


def test_code_in_a_line_ends_where_it_should() -> None:
    assert code("data/`x`") == "`` data/`x` ``"
    assert code("a\nb") == "`a b`"


def test_a_cell_of_a_table_becomes_no_link() -> None:
    assert "://" not in cell("see http://evil/ and\nmore")


RECORD = {
    "record_id": "r-1",
    "record_type": "letter <b>",
    "domain": "Health & Wellness",
    "language": "English",
    "text": "Amina Karim lives in Porto.\nCall 555-0101.",
    "words": 7,
    "attributes": [
        {"key": "name", "value": "Amina Karim"},
        {"key": "phone", "value": "555-0101"},
        {"key": "city", "value": "Porto"},
    ],
    "groups": [{"name": "people | places", "keys": ["name", "city"]}],
}


def test_a_masked_record_shows_groups_and_lengths_and_no_value() -> None:
    block = record_block(RECORD, full=False)
    for value in ("Amina", "Porto", "555"):
        assert value not in block
    assert "| people \\| places | 2 | 5 to 11 |" in block
    assert "| in no group | 1 | 8 |" in block
    assert "7 words, 42 characters, 2 lines" in block
    assert "<b>" not in block


def test_a_full_record_shows_its_text_in_a_fence() -> None:
    assert record_block(RECORD, full=True).endswith("```text\nAmina Karim lives in Porto.\nCall 555-0101.\n```")


def test_a_masked_triplet_counts_what_had_to_go() -> None:
    row = {
        "record_id": "t-1",
        "text": "Amina is ill.",
        "instruction": "Leave out the name.",
        "sanitized": "She is ill.",
        "verified": True,
        "targets": [{"label": "drop"}, {"label": "abstract"}, {"label": "drop"}],
    }
    block = triplet_block(row, full=False)
    assert "1 abstract, 2 drop; no value of a target is left" in block
    assert "Amina" not in block
    assert "Leave" not in block
    assert "sanitized: 3 words, 11 characters, 1 lines" in block


def test_a_cancelled_run_and_one_that_a_person_can_mend_end_with_a_line_and_a_bug_with_its_traceback() -> None:
    def told(error: Exception) -> str:
        record = logging.LogRecord("prefect.engine", logging.ERROR, "", 1, "unexpected exception", (), None)
        record.exc_info = (type(error), error, None)
        assert in_a_line(record)
        return logging.Formatter("%(levelname)s %(message)s").format(record)

    assert told(CancelledRun("Stopped in order")) == "INFO The run was cancelled, and has ended in order."
    assert told(BackendUnavailable("no answer: 100 %")) == "ERROR BackendUnavailable: no answer: 100 %"
    assert all(in_a_line in logging.getLogger(name).filters for name in LOGGERS)
    assert told(KeyError("reasons")) == "ERROR unexpected exception\nKeyError: 'reasons'"


def test_a_run_of_several_stages_whose_process_is_told_to_end_has_crashed_and_one_that_failed_has_not() -> None:
    def stopped() -> None:
        raise RunFailed("stopped, with 1 of 2 shards unfinished", Code.OUTSIDE) from JobStopped("part-0: stopped")

    def failed() -> None:
        raise RunFailed("1 of 2 shards failed", Code.OUTSIDE) from BackendUnavailable("no answer")

    ended = carry_out(stopped, [])
    assert isinstance(ended, State)
    assert ended.is_crashed()
    with pytest.raises(RunFailed, match="1 of 2 shards failed"):
        carry_out(failed, [])


def test_keys_of_artifacts_are_what_prefect_takes() -> None:
    assert key_of("shards", "My_set.2", "records") == "shards-my-set-2-records"


def test_progress_is_a_share_of_a_hundred() -> None:
    assert Progress(1, 4, "").percent == 25
    assert Progress(0, 0, "").percent == 100


def test_the_page_lists_every_deployment() -> None:
    page = (PROJECT / "docs" / "deployments.md").read_text(encoding="utf-8")
    for name in DEPLOYMENTS:
        assert f"`{name}`" in page
    json.dumps(YAML)  # what a stack in containers writes again
