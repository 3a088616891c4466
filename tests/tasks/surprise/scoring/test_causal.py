from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedModel

from tasks.surprise.documents import Interval
from tasks.surprise.scoring.causal import CausalScorer, ScoringConfig
from tasks.surprise.scoring.scorer import F32, PLAIN, Pass, Text
from tests.tasks.surprise.scoring.tiny import TEXTS, backend, gpt2, llama, naive_nll, qwen3, tokenizer

Make = Callable[[], PreTrainedModel]
BOUND = 1e-4  # nats
MODELS: dict[str, Make] = {
    "qwen3": qwen3,
    "llama": llama,
    "llama with biases": lambda: llama(attention_bias=True, mlp_bias=True),
    "gpt2": gpt2,
    "qwen3 that slides": lambda: qwen3(use_sliding_window=True, sliding_window=8, max_window_layers=0),
}
PROMPT = "What follows is private:\n"


def scorer_of(make: Make = qwen3, *, bos: bool = False, **config: int) -> CausalScorer:
    return CausalScorer(make(), tokenizer(bos=bos), "tiny", ScoringConfig(**config))


def texts(*of: str) -> list[Text]:
    return [Text(text) for text in of]


def naive(model: PreTrainedModel, of: Sequence[str], *, bos: bool, prompt: str = "") -> list[F32]:
    of_texts = tokenizer(bos=bos)
    lead = [*of_texts.prefix, *(of_texts.encode_plain(prompt) if prompt else [])]
    return [naive_nll(model, lead + of_texts.encode_plain(text), len(lead)) for text in of]


@pytest.mark.parametrize("bos", [False, True])
@pytest.mark.parametrize("name", list(MODELS))
def test_scores_equal_the_loop_over_single_texts(name: str, bos: bool) -> None:
    expected = naive(MODELS[name](), TEXTS, bos=bos)
    found = list(scorer_of(MODELS[name], bos=bos).score(texts(*TEXTS), [PLAIN]))
    for text, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(text.nll["plain"], right, atol=BOUND, rtol=0)


@pytest.mark.parametrize("budget", [1, 7, 64, 10_000])
def test_the_batch_does_not_change_scores(budget: int) -> None:
    expected = naive(qwen3(), TEXTS, bos=True)
    found = list(scorer_of(bos=True, batch_tokens=budget).score(texts(*TEXTS), [PLAIN]))
    for text, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(text.nll["plain"], right, atol=BOUND, rtol=0)


@settings(max_examples=12, deadline=None)
@given(of=st.lists(st.text(alphabet="ab 1é🙂\n<|", max_size=30), max_size=6), budget=st.integers(1, 60))
def test_any_texts_in_any_batches_equal_the_loop(of: list[str], budget: int) -> None:
    expected = naive(llama(), of, bos=False)
    found = list(scorer_of(llama, batch_tokens=budget).score(texts(*of), [PLAIN]))
    for text, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(text.nll["plain"], right, atol=BOUND, rtol=0)


def test_without_bos_the_first_token_has_no_score_and_with_it_every_token_has() -> None:
    without, single = scorer_of().score(texts("Jane called", "x"), [PLAIN])
    assert np.isnan(without.nll["plain"]).tolist() == [True] + [False] * (without.ids.size - 1)
    assert np.isnan(single.nll["plain"]).all()
    with_bos = scorer_of(bos=True)
    assert with_bos.prefix == (backend().token_to_id("<|endoftext|>"),)
    assert not any(np.isnan(text.nll["plain"]).any() for text in with_bos.score(texts("Jane called", "x"), [PLAIN]))


def test_an_empty_text_has_no_tokens() -> None:
    (empty,) = scorer_of(bos=True).score(texts(""), [PLAIN])
    assert (empty.ids.size, empty.nll["plain"].size, empty.covered) == (0, 0, 0)


@pytest.mark.parametrize("bos", [False, True])
def test_a_prompt_conditions_every_token_and_is_not_scored(bos: bool) -> None:
    passes = [PLAIN, Pass("violating", PROMPT), Pass("compliant", "Nothing here is private.\n")]
    found = list(scorer_of(bos=bos).score(texts(*TEXTS), passes))
    for each in passes:
        expected = naive(qwen3(), TEXTS, bos=bos, prompt=each.prompt or "")
        for text, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(text.nll[each.name], right, atol=BOUND, rtol=0)
    alone = tokenizer(bos=bos).tokenize(texts(*TEXTS))
    for with_prompts, without in zip(found, alone, strict=True):
        np.testing.assert_array_equal(with_prompts.ids, without.ids)
        np.testing.assert_array_equal(with_prompts.starts, without.starts)


@pytest.mark.parametrize(("bos", "prompt"), [(False, ""), (True, ""), (True, PROMPT)])
def test_a_long_text_is_scored_whole_with_the_stated_context(bos: bool, prompt: str) -> None:
    """Each token against a loop that shows it what the definition of sliding promises."""
    context, stride = 48, 16
    long = " ".join(f"line {i} of {i * 7}\n" for i in range(40))
    of_texts = tokenizer(bos=bos)
    ids = of_texts.encode_plain(long)
    lead = [*of_texts.prefix, *(of_texts.encode_plain(prompt) if prompt else [])]
    room = context - len(lead)
    assert len(ids) > 3 * context
    expected = naive_nll(qwen3(), lead + ids[:room], len(lead)).tolist()
    for begin in range(room, len(ids), stride):
        window = lead + ids[begin - (room - stride) : begin + stride]
        expected += naive_nll(qwen3(), window, len(lead) + room - stride).tolist()
    (found,) = scorer_of(bos=bos, context=context, stride=stride).score(
        texts(long), [Pass("prompted", prompt) if prompt else PLAIN]
    )
    (nll,) = found.nll.values()
    np.testing.assert_allclose(nll, expected, atol=BOUND, rtol=0)
    assert found.covered == len(long)
    assert np.isnan(nll).sum() == (0 if lead else 1)


def test_results_come_in_the_order_of_the_texts_over_many_slabs() -> None:
    of = [f"text {i} " + "x y " * (i % 5) for i in range(40)]
    found = scorer_of(bos=True, batch_tokens=1).score(texts(*of), [PLAIN])  # 24 characters a slab
    assert [backend().decode(text.ids.tolist()) for text in found] == of


def test_what_a_person_types_is_never_a_special_token() -> None:
    scorer = scorer_of(bos=True)
    (typed,) = scorer.tokenize(texts("a<|im_end|>b"))
    assert backend().token_to_id("<|im_end|>") not in typed.ids
    marked = Text("<|im_start|>a<|im_end|>b<|im_end|>", (Interval(0, 12), Interval(24, 34)))
    (rendered,) = scorer.tokenize([marked])
    special = [backend().token_to_id("<|im_start|>"), backend().token_to_id("<|im_end|>")]
    assert [id_ for id_ in rendered.ids.tolist() if id_ in special] == special
    assert rendered.starts[-1] == 24


def test_a_template_that_writes_bos_is_not_given_a_second() -> None:
    rendered = Text("<|endoftext|>Jane", (Interval(0, 13),))
    (found,) = scorer_of(bos=True).score([rendered], [PLAIN])
    expected = naive_nll(qwen3(), found.ids.tolist(), 0)
    np.testing.assert_allclose(found.nll["plain"], expected, atol=BOUND, rtol=0)
    assert np.isnan(found.nll["plain"][0])


def test_a_lone_surrogate_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"text 1: a lone surrogate at character 2"):
        scorer_of().score(texts("fine", "no\ud800"), [PLAIN])


def test_a_prompt_without_room_is_refused_before_any_work() -> None:
    with pytest.raises(ValueError, match=r"leaves room for 4"):
        scorer_of(context=8, stride=4).score(texts("a"), [Pass("prompted", PROMPT)])
    with pytest.raises(ValueError, match=r"takes 512 at most"):
        scorer_of(context=513)
    with pytest.raises(ValueError, match=r"give each once"):
        scorer_of().score(texts("a"), [PLAIN, PLAIN])


def test_the_reference_names_model_and_tokenizer() -> None:
    assert scorer_of().reference.model == "tiny"
    assert scorer_of().reference.tokenizer_sha256 == tokenizer(bos=True).sha256


def test_half_precision_stays_close_to_float32() -> None:
    expected = np.concatenate(naive(qwen3(), TEXTS, bos=True))
    half = CausalScorer(qwen3().to(torch.bfloat16), tokenizer(bos=True), "tiny", ScoringConfig())
    found = np.concatenate([text.nll["plain"] for text in half.score(texts(*TEXTS), [PLAIN])])
    assert np.abs(found - expected).mean() < 0.05
