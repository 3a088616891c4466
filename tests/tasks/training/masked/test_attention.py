from typing import Any

import numpy as np
import pytest
import torch
from transformers import GptOssConfig, GptOssForCausalLM, PreTrainedModel

from tasks.training.masked.attention import PACKED_ROWS, RowLayout
from tests.tasks.surprise.scoring.tiny import VOCABULARY, gpt2, llama, qwen3
from tests.tasks.training.masked.small import CPU

PIECES = ((7, 5), (12,))
IDS = torch.from_numpy(np.random.default_rng(0).integers(3, VOCABULARY, (1, 24)))
POSITIONS = torch.cat([torch.arange(size) for row in PIECES for size in row])[None]


def gpt_oss() -> PreTrainedModel:
    torch.manual_seed(1)
    config = GptOssConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        num_local_experts=2,
        num_experts_per_tok=1,
        sliding_window=4,
        max_position_embeddings=128,
        attn_implementation="eager",
    )
    model: PreTrainedModel = GptOssForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3)
    return model


def logits(model: PreTrainedModel, ids: torch.Tensor, blocked: set[int]) -> torch.Tensor:
    hidden = np.isin(np.arange(24), list(blocked))
    model.set_attn_implementation(PACKED_ROWS)
    with torch.no_grad():
        out = model(
            input_ids=ids, position_ids=POSITIONS, layout=RowLayout.of(PIECES, hidden, CPU), use_cache=False
        ).logits[0]
    assert isinstance(out, torch.Tensor)
    return out


@pytest.mark.parametrize("make", [qwen3, llama, gpt2, gpt_oss])
def test_packed_pieces_are_read_as_if_each_stood_alone(make: Any) -> None:
    found = logits(make(), IDS, set())
    alone, first = make(), 0
    for size in (7, 5, 12):
        with torch.no_grad():
            expected = alone(IDS[:, first : first + size]).logits[0]
        torch.testing.assert_close(found[first : first + size], expected, rtol=1e-4, atol=1e-4)
        first += size


@pytest.mark.parametrize("make", [qwen3, llama, gpt2, gpt_oss])
def test_what_a_blocked_token_is_changes_no_later_logits(make: Any) -> None:
    other = IDS.clone()
    other[0, 8] = (other[0, 8] + 11) % VOCABULARY  # the second token of the second piece
    before, after = (logits(make(), ids, {8}) for ids in (IDS, other))
    torch.testing.assert_close(before[9:], after[9:], rtol=0, atol=0)
    torch.testing.assert_close(before[:8], after[:8], rtol=0, atol=0)
    assert not torch.allclose(before[8], after[8])  # its own position predicts the next token from it
    seen = [logits(make(), ids, set()) for ids in (IDS, other)]
    assert not torch.allclose(seen[0][9:12], seen[1][9:12])  # without the block it is seen
    torch.testing.assert_close(seen[0][12:], seen[1][12:], rtol=0, atol=0)  # and never from another row


def test_a_run_of_blocked_tokens_reaches_nothing_after_it_even_through_its_own_positions() -> None:
    other = IDS.clone()
    other[0, 13:16] = (other[0, 13:16] + 5) % VOCABULARY
    before, after = (logits(qwen3(), ids, {13, 14, 15}) for ids in (IDS, other))
    torch.testing.assert_close(before[16:], after[16:], rtol=0, atol=0)


def test_a_piece_that_begins_with_a_blocked_token_has_finite_logits() -> None:
    assert torch.isfinite(logits(qwen3(), IDS, {0, 7, 12})).all()


def test_blocking_is_a_mask_over_keys_but_for_the_own_place() -> None:
    layout = RowLayout.of([(2, 2)], np.array([True, False, False, False]), CPU)
    assert layout.visible[0, 0].int().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]
