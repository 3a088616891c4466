"""A small tokenizer of a corpus' own, so that a small model does not spend its weights on a large vocabulary."""

from collections.abc import Iterable, Iterator

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from tasks.surprise.documents import Document

END_OF_TEXT = "<|endoftext|>"
_TURN, _END_OF_TURN = "<|im_start|>", "<|im_end|>"
_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE with a ChatML template; every text can be written in it.

    Digits are tokens each, as in most tokenizers of code: a long number then is no token of its own, however often a
    corpus repeats it.

    Args:
        texts: the corpus; equal texts in equal order give an equal tokenizer.
        vocabulary: most tokens, the 256 bytes and three special ones among them.
    """
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[
            AddedToken(text, special=True, normalized=False) for text in (END_OF_TEXT, _TURN, _END_OF_TURN)
        ],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=END_OF_TEXT, eos_token=END_OF_TEXT, clean_up_tokenization_spaces=False
    )
    tokenizer.chat_template = _CHATML
    return tokenizer


def without_labels(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the texts around private spans, to train a tokenizer on.

    A value that stands in a corpus a hundred times becomes a token otherwise: then the vocabulary itself gives it away,
    whatever a mask keeps from the weights.
    """
    for document in documents:
        at = 0
        for label in sorted(document.labels, key=lambda each: each.start):
            yield document.text[at : max(at, label.start)]
            at = max(at, label.end)
        yield document.text[at:]
