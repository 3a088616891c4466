"""A tiny random model with the head and attention of the OpenAI Privacy Filter, through transformers end to end."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra `surprise`")

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast
from transformers.models.openai_privacy_filter.configuration_openai_privacy_filter import OpenAIPrivacyFilterConfig
from transformers.models.openai_privacy_filter.modeling_openai_privacy_filter import (
    OpenAIPrivacyFilterForTokenClassification,
)

from infra.detectors.privacy_filter import PrivacyFilter
from infra.engines.models import ModelMissing
from tasks.surprise.baselines.methods import Material, is_masked
from tasks.surprise.baselines.privacy_filter import Decoded, LogOdds, Remembering
from tasks.surprise.documents import Document

LAYERS, BAND = 2, 3


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(letters)} | {"<|endoftext|>": len(letters)}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|endoftext|>", pad_token="<|endoftext|>")


@pytest.fixture(scope="module")
def model() -> OpenAIPrivacyFilterForTokenClassification:
    torch.manual_seed(5)
    config = OpenAIPrivacyFilterConfig(
        num_hidden_layers=LAYERS, num_local_experts=4, num_experts_per_tok=2, vocab_size=257, hidden_size=16,
        intermediate_size=16, head_dim=8, num_attention_heads=2, num_key_value_heads=1, sliding_window=BAND,
        max_position_embeddings=512, pad_token_id=256, eos_token_id=256, initializer_range=0.5,
    )  # fmt: skip
    return OpenAIPrivacyFilterForTokenClassification(config).eval()


TEXT = "Jane Doe, née O'Neill, rang 555-0147 😀 twice; her key is k-93xq."


def directly(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast, text: str
) -> np.ndarray:
    ids = torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]])
    with torch.inference_mode():
        return torch.log_softmax(model(input_ids=ids).logits.float(), dim=-1)[0].numpy()


def test_it_has_the_33_labels_of_the_filter(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    labels = PrivacyFilter(model, tokenizer).labels
    assert len(labels) == 33
    assert labels[0] == "O"
    assert {label[2:] for label in labels[1:]} == {
        "account_number", "private_address", "private_date", "private_email", "private_person", "private_phone",
        "private_url", "secret",
    }  # fmt: skip


def test_texts_of_mixed_length_in_batches_score_like_each_alone(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    texts = [TEXT, "", "x", TEXT[:20], TEXT * 2]
    answers = PrivacyFilter(model, tokenizer, window=200, batch_tokens=300)(texts)
    for text, answer in zip(texts, answers, strict=True):
        assert answer.log_probs.shape == (len(text.encode()), 33)
        if text:
            np.testing.assert_allclose(answer.log_probs, directly(model, tokenizer, text), atol=1e-4)


def test_windows_with_the_margin_of_the_attention_change_no_result(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    whole = directly(model, tokenizer, TEXT)
    for window in (2 * LAYERS * BAND + 1, 20, 47):
        answer = PrivacyFilter(model, tokenizer, window=window)([TEXT])[0]
        np.testing.assert_allclose(answer.log_probs, whole, atol=1e-4)


def test_windows_without_margins_do_change_results(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    answer = PrivacyFilter(model, tokenizer, window=20, margin=0)([TEXT])[0]
    assert np.abs(answer.log_probs - directly(model, tokenizer, TEXT)).max() > 1e-2


def test_offsets_are_code_points_and_cover_the_text(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    answer = PrivacyFilter(model, tokenizer)(["é😀"])[0]
    assert answer.start.tolist() == [0, 0, 1, 1, 1, 1]
    assert answer.end.tolist() == [1, 1, 2, 2, 2, 2]


def test_a_mark_of_the_tokenizer_in_a_text_is_read_as_text(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    answer = PrivacyFilter(model, tokenizer)(["a<|endoftext|>b"])[0]
    assert len(answer.start) == len("a<|endoftext|>b")


def test_a_saved_model_is_loaded_by_its_folder(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = PrivacyFilter.load(str(tmp_path))([TEXT])[0]
    np.testing.assert_allclose(loaded.log_probs, directly(model, tokenizer, TEXT), atol=1e-4)


def test_a_model_that_is_nowhere_is_named_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"no token classifier .*`--method opf:FOLDER`"):
        PrivacyFilter.load(str(tmp_path))


def test_masks_and_log_odds_of_the_random_model_are_those_of_its_own_probabilities(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    material = Material([Document("a", TEXT), Document("b", "")])
    classifier = Remembering(PrivacyFilter(model, tokenizer, window=20))
    log_probs = directly(model, tokenizer, TEXT)
    starts = np.repeat(np.arange(len(TEXT)), [len(letter.encode()) for letter in TEXT])  # one token a byte
    positive = np.isin(np.arange(len(TEXT)), starts[log_probs.argmax(axis=1) > 0])
    masked = is_masked(Decoded(classifier, "argmax").levels(material).on_characters())
    inked = np.array([not letter.isspace() for letter in TEXT])  # white space at the ends of spans is not masked
    assert np.array_equal(masked[inked], positive[inked])
    background = np.exp(log_probs[:, 0].astype(np.float64))
    odds = LogOdds(classifier).levels(material).levels
    np.testing.assert_allclose(odds, np.log((1 - background) / background), atol=1e-3)
    assert is_masked(Decoded(classifier).levels(material).on_characters()).any()


def test_windows_that_their_margins_fill_are_refused(
    model: OpenAIPrivacyFilterForTokenClassification, tokenizer: PreTrainedTokenizerFast
) -> None:
    with pytest.raises(ValueError, match="windows of 12 tokens with margins of 6"):
        PrivacyFilter(model, tokenizer, window=2 * LAYERS * BAND)


def test_a_model_that_attends_to_everything_needs_a_margin(tokenizer: PreTrainedTokenizerFast) -> None:
    bert = BertForTokenClassification(
        BertConfig(vocab_size=257, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    )
    with pytest.raises(ValueError, match="attends to whole inputs"):
        PrivacyFilter(bert, tokenizer)
