from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from infra.engines import causal_lm_gguf
from infra.engines.causal_lm import CausalLmConfig, identify, load, load_tokenizer
from infra.engines.models import ModelMissing
from infra.settings import settings
from tests.tasks.surprise.scoring.tiny import VOCABULARY, backend, chat_tokenizer, llama, qwen3


def saved(folder: Path, model: PreTrainedModel) -> Path:
    model.save_pretrained(folder)
    chat_tokenizer("{{ messages }}").save_pretrained(folder)
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRIVASIS_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    yield tmp_path / "cache"
    settings.cache_clear()


def test_a_folder_is_loaded_ready_to_score(tmp_path: Path) -> None:
    folder = saved(tmp_path / "tiny", qwen3())
    loaded = load(CausalLmConfig(model=str(folder), threads=1))
    assert not loaded.model.training
    assert (loaded.model.dtype, loaded.model.device.type, torch.get_num_threads()) == (torch.float32, "cpu", 1)
    torch.testing.assert_close(loaded.model.state_dict(), qwen3().state_dict())
    assert loaded.tokenizer.is_fast
    assert load(CausalLmConfig(model=str(folder), threads=1, dtype="bfloat16")).model.dtype == torch.bfloat16


def test_the_name_tells_the_weights_without_loading_them(tmp_path: Path) -> None:
    folder = saved(tmp_path / "tiny", qwen3())
    name = identify(CausalLmConfig(model=str(folder)))
    assert name == load(CausalLmConfig(model=str(folder), threads=1)).name
    assert name.startswith("tiny@sha256:")
    changed = qwen3()
    with torch.no_grad():
        changed.get_input_embeddings().weight[0, 0] += 1
    assert identify(CausalLmConfig(model=str(saved(tmp_path / "b" / "tiny", changed)))) != name


def test_a_folder_without_safetensors_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "tiny", qwen3())
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelMissing, match=r"no \*\.safetensors in it"):
        load(CausalLmConfig(model=str(folder), threads=1))


@pytest.mark.parametrize("model", ["no/such/folder", "../secret", "nobody/has-this-model"])
def test_what_is_nowhere_says_where_to_look(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelMissing, match=r"smollm2-135m"):
        load_tokenizer(model)


def write_gguf(path: Path, model: PreTrainedModel) -> None:
    """A llama in float32 as llama.cpp lays it out: query and key rows permuted, names shortened."""
    config = model.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    words = sorted(backend().get_vocab().items(), key=lambda item: item[1])
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([word for word, _ in words])
    writer.add_token_types([3 if word.startswith("<|") else 1 for word, _ in words])
    writer.add_token_merges(["Ġ t"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    short = {
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "lm_head": "output",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.o_proj": "attn_output",
        "self_attn.": "attn_",
        "mlp.": "ffn_",
        "_proj": "",
        "model.layers": "blk",
    }
    for name, tensor in model.state_dict().items():
        values = tensor.numpy()
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(name.split(".")[-2])
        if heads:
            values = values.reshape(heads, 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape)
        for long, brief in short.items():
            name = name.replace(long, brief)
        writer.add_tensor(name, np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gguf_file_is_dequantized_once(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "small.gguf"
    write_gguf(file, llama())
    part = cache / "dequantized"
    loaded = load(CausalLmConfig(model=str(file), threads=1))
    for name, tensor in llama().state_dict().items():
        torch.testing.assert_close(loaded.model.state_dict()[name], tensor)
    assert loaded.tokenizer.bos_token_id == 0
    assert loaded.name.startswith("small.gguf@sha256:")
    (folder,) = (each for each in part.iterdir() if each.is_dir())

    def fails(*_: object) -> None:
        raise AssertionError("converted a second time")

    monkeypatch.setattr(causal_lm_gguf, "_convert", fails)
    assert load(CausalLmConfig(model=str(file), threads=1)).name == loaded.name
    assert folder.exists()


def test_what_a_killed_conversion_left_is_not_used(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "small.gguf"
    write_gguf(file, llama())
    folder, _ = causal_lm_gguf.dequantized(str(file))
    remains = folder.with_name(f"{folder.name}.part")
    folder.rename(remains)
    (remains / "model.safetensors").write_bytes(b"torn")
    folder, _ = causal_lm_gguf.dequantized(str(file))
    assert not remains.exists()
    assert (folder / "model.safetensors").stat().st_size > 1000
