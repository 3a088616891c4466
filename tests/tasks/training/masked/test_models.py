import torch
from transformers import GptOssConfig, GptOssForCausalLM

from tasks.training.job import LoraConfig
from tasks.training.masked.config import GPT2_SMALL, TINY
from tasks.training.masked.models import from_scratch, with_adapters
from tasks.training.masked.tokenizer import train_tokenizer


class Vocabulary:
    """Of GPT-2's size; the model needs no more of its tokenizer."""

    bos_token_id = eos_token_id = 50256

    def __len__(self) -> int:
        return 50257


def test_adapters_of_gpt_oss_20b_have_as_many_weights_as_in_the_paper() -> None:
    with torch.device("meta"):  # no memory is taken
        model = GptOssForCausalLM(GptOssConfig(num_hidden_layers=24, num_local_experts=32))
        model = with_adapters(model, LoraConfig(rank=16, alpha=32))
    assert sum(each.numel() for each in model.parameters() if each.requires_grad) == 7_962_624  # SM App. C.1


def test_gpt2_small_has_its_124_million_weights() -> None:
    with torch.device("meta"):
        model = from_scratch(GPT2_SMALL, Vocabulary(), 1024, seed=0)  # type: ignore[arg-type]
    assert sum(each.numel() for each in model.parameters()) == 124_439_808


def test_a_seed_decides_the_first_weights_of_a_tiny_model_of_one_to_a_few_million() -> None:
    tokenizer = train_tokenizer(["some text"], 300)
    first, again, other = (from_scratch(TINY, tokenizer, 64, seed) for seed in (1, 1, 2))
    assert torch.equal(first.lm_head.weight, again.lm_head.weight)
    assert not torch.equal(first.lm_head.weight, other.lm_head.weight)
    assert 1e6 < sum(each.numel() for each in first.parameters()) < 4e6
