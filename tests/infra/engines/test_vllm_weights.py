from pathlib import Path

import pytest

from infra.engines import vllm_weights
from infra.engines.models import ModelMissing
from infra.engines.vllm_weights import is_gguf, servable
from tests.infra.engines.test_causal_lm import llama, write_gguf


def test_names_of_the_hub_and_folders_are_left_to_vllm(tmp_path: Path) -> None:
    assert servable("Qwen/Qwen3-0.6B") == "Qwen/Qwen3-0.6B"
    assert servable(str(tmp_path)) == str(tmp_path)


def test_embedded_models_and_gguf_files_are_to_be_converted() -> None:
    assert [is_gguf(model) for model in ("smollm2-135m", "a/b.gguf", "a/b", "org/model-GGUF")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_gguf_file_becomes_a_folder_of_safetensors_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVASIS_CACHE", str(tmp_path / "cache"))  # of the process that converts
    file = tmp_path / "small.gguf"
    write_gguf(file, llama())
    folder = Path(servable(str(file)))
    assert folder.parent == tmp_path / "cache" / "dequantized"
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {each.name for each in folder.iterdir()}
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert servable(str(file)) == str(folder)
    assert (folder / "model.safetensors").stat().st_mtime_ns == before


def test_a_file_that_is_none_is_told_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVASIS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "bad.gguf").write_bytes(b"nothing of the kind")
    with pytest.raises(ModelMissing, match=r"bad\.gguf: not a GGUF file"):
        servable(str(tmp_path / "bad.gguf"))


def test_without_torch_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_weights, "_NEEDED", ("torch", "no_such_package"))
    with pytest.raises(ModelMissing, match="needs no_such_package: `make setup-surprise`"):
        servable("smollm2-135m")
