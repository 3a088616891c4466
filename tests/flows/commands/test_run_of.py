from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.commands.flags import RunFlags
from flows.commands.run_of import run_of
from flows.config import DEFAULT_MIX, ConfigError, Embedded, Remote, RunConfig, Simulated, load_run

FILE = """
records = 30
seed = 5
shard_size = 10
[synthesis]
words = 300
language = "German"
[synthesis.refinement]
pool_size = 7
"""


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_nothing_said_is_the_default_run() -> None:
    assert run_of(RunFlags()) == RunConfig()


def test_a_flag_overrides_the_file_and_leaves_its_neighbours_alone(run_file: Path) -> None:
    run = run_of(RunFlags(config=run_file, words=100, refinement_steps=1, records=8))
    assert (run.records, run.seed, run.synthesis.words, run.synthesis.language) == (8, 5, 100, "German")
    assert (run.synthesis.refinement.steps, run.synthesis.refinement.pool_size) == (1, 7)


def test_zero_is_a_value_not_an_absence() -> None:
    run = run_of(RunFlags(first=0, seed=0, refinement_steps=0))
    assert (run.seed, run.synthesis.refinement.steps) == (0, 0)


def test_the_ablations_switch_off_what_they_are_called_after() -> None:
    plain = run_of(RunFlags()).synthesis
    assert plain.record_type_and_format
    assert plain.refinement.diversity
    ablated = run_of(RunFlags(no_diversity=True, no_record_type=True)).synthesis
    assert not ablated.record_type_and_format
    assert not ablated.refinement.diversity


def test_shards_are_counted_in_the_files_shard_size(run_file: Path) -> None:
    run = run_of(RunFlags(config=run_file, shards="2:5"))
    assert (run.first, run.records) == (20, 30)


@pytest.mark.parametrize("shards", ["", "3", "5:5", "4:2", "-1:2", "a:b", "1:2:3", "0.5:1", ":", "1:"])
def test_shards_that_are_no_range_are_refused(shards: str) -> None:
    with pytest.raises(ConfigError, match=r"give A:B"):
        run_of(RunFlags(shards=shards))


@pytest.mark.parametrize("also", [{"records": 3}, {"first": 0}])
def test_shards_and_records_contradict_each_other(also: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="leave one or the other out"):
        run_of(RunFlags(shards="0:1", **also))


def test_models_replace_the_mix_with_their_weights() -> None:
    models = run_of(RunFlags(model=["openai:gpt-4.1-mini=3", "simulator:s=0.5", "llama_cpp:smollm2-135m"])).models
    assert [(type(each.engine), each.name, each.weight) for each in models] == [
        (Remote, "gpt-4.1-mini", 3.0),
        (Simulated, "s", 0.5),
        (Embedded, "smollm2-135m", 1.0),
    ]
    assert models[2].repeat_penalty == DEFAULT_MIX[0].repeat_penalty
    assert models[0].repeat_penalty is None


@given(
    name=st.from_regex(r"[A-Za-z0-9/._-]+(:[a-z0-9]+)?(=[a-z]+)?", fullmatch=True),
    weight=st.none() | st.floats(0.01, 100),
)
def test_a_models_name_may_hold_colons_slashes_and_equals_signs(name: str, weight: float | None) -> None:
    spec = f"simulator:{name}" + ("" if weight is None else f"={weight}")
    (model,) = run_of(RunFlags(model=[spec])).models
    assert (model.name, model.weight) == (name, 1.0 if weight is None else pytest.approx(weight))


@pytest.mark.parametrize("spec", ["gpt-4.1", "vllm:x", "openai:", "openai:=3", ":x", ""])
def test_a_model_without_kind_or_name_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError, match="give KIND:NAME"):
        run_of(RunFlags(model=[spec]))


@pytest.mark.parametrize("weight", ["0", "-1", "nan"])
def test_a_weight_has_to_be_positive(weight: str) -> None:
    with pytest.raises(ConfigError, match="weight"):
        run_of(RunFlags(model=[f"simulator:s={weight}"]))


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("shard_size=7", {"shard_size": 7}),
        ("dataset=mine", {"dataset": "mine"}),
        ('dataset="1"', {"dataset": "1"}),
        ("root=/data/x=y", {"root": Path("/data/x=y")}),
    ],
)
def test_any_setting_can_be_set(assignment: str, expected: dict[str, Any]) -> None:
    run = run_of(RunFlags(set_=[assignment]))
    assert {name: getattr(run, name) for name in expected} == expected


def test_settings_in_tables_and_kinds_can_be_set_and_come_last() -> None:
    run = run_of(
        RunFlags(
            words=100,
            model=["simulator:s"],
            set_=[
                "synthesis.words=200",
                "synthesis.draws.names.sexes=['F']",
                "embedder.kind=simulator",
                "synthesis.draws.first_date=2001-02-03",
            ],
        )
    )
    assert run.synthesis.words == 200
    assert run.synthesis.draws.names.sexes == ("F",)
    assert run.synthesis.draws.first_date.isoformat() == "2001-02-03"
    assert run.embedder.kind == "simulator"


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("words=3", r"no 'words' in the run file; there are dataset, root"),
        ("synthesis.wrods=3", r"no 'wrods' in synthesis; there are language, words"),
        ("synthesis=3", r"a table of settings, set one of language"),
        ("records.x=3", r"records is no table"),
        ("models.0.weight=3", r"models is no table"),
        ("records", r"give NAME=VALUE"),
        ("=3", r"give NAME=VALUE"),
        ("records=1\nseed=2", r"must be one TOML value"),
        ("records=many", r"records: Input should be a valid integer"),
        ("embedder.kind=word2vec", r"embedder: .*'word2vec'"),
    ],
)
def test_a_wrong_setting_is_named(assignment: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        run_of(RunFlags(set_=[assignment]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("records = = 3", r"run\.toml: "),
        ("synthesis = 3", r"run\.toml: synthesis: "),
        ('records = "many"', r"run\.toml: records: "),
        ("records = -1", r"run\.toml: records: .*greater than or equal to 1"),
        ("speed = 3", r"run\.toml: speed: Extra inputs"),
        ('[embedder]\nkind = "simulator"', r"embedder 'simulator' needs a model of kind 'simulator'"),
    ],
)
def test_a_wrong_file_is_named_with_the_place_even_where_a_flag_goes_into_it(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        run_of(RunFlags(config=tmp_path / "run.toml", words=100))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml"):
        run_of(RunFlags(config=tmp_path / "gone.toml"))


def test_a_wrong_value_of_a_model_is_told_once_and_no_list_of_models_is_said_to_be_empty() -> None:
    wrong = {"kind": "openai", "model": "m", "base_url": "10.0.0.1:8000/v1"}
    with pytest.raises(ConfigError, match=r"^flags: models\.0\.engine\.openai\.base_url: [^;]*$"):
        load_run(None, {"models": [{"engine": wrong}]})
    with pytest.raises(ConfigError, match=r"^flags: models: .*at least 1 item"):
        load_run(None, {"models": []})
