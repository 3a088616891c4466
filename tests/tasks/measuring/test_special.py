from types import SimpleNamespace

from transformers import PreTrainedTokenizerFast

from tasks.measuring.special import end_tokens, start_token
from tests.tasks.surprise.scoring.tiny import backend
from tests.tasks.training.chatml import PLAIN

TEXT, TURN = (backend().token_to_id(token) for token in ("<|endoftext|>", "<|im_end|>"))


def tokenizer(**fields: str) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=backend(), **fields)


def test_an_answer_ends_where_its_template_ends_it_whatever_eos_is() -> None:
    chats = tokenizer(eos_token="<|endoftext|>")
    assert end_tokens(None, chats) == {TEXT}
    chats.chat_template = PLAIN
    assert end_tokens(None, chats) == {TEXT, TURN}


def test_the_model_may_name_further_ends() -> None:
    model = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=[7, 8]))
    assert end_tokens(model, tokenizer(eos_token="<|im_end|>")) == {7, 8, TURN}
    model.generation_config.eos_token_id = 9
    assert end_tokens(model, tokenizer()) == {9}


def test_a_text_starts_with_bos_or_with_the_end_of_another() -> None:
    assert start_token(tokenizer(bos_token="<|endoftext|>", eos_token="<|im_end|>")) == TEXT
    assert start_token(tokenizer(eos_token="<|im_end|>")) == TURN
    assert start_token(tokenizer()) is None
