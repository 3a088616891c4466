import torch

from tasks.training.tiny import tiny_qwen3
from tests.tasks.surprise.scoring.tiny import VOCABULARY, chat_tokenizer
from tests.tasks.training.chatml import QWEN3


def test_the_tiny_model_is_that_of_its_seed_and_small() -> None:
    tokenizer = chat_tokenizer(QWEN3)
    one, same, other = (tiny_qwen3(tokenizer, seed) for seed in (1, 1, 2))
    weights = [model.state_dict()["model.layers.0.self_attn.q_proj.weight"] for model in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert sum(parameter.numel() for parameter in one.parameters()) < 64 * VOCABULARY + 100_000
    assert one.config.eos_token_id == tokenizer.eos_token_id
