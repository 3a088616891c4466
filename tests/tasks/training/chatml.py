"""Chat templates that differ in what they do with thoughts, and a model and tokenizer for them."""

from pathlib import Path

from transformers import PreTrainedTokenizerFast

from tasks.training.answers import Chat
from tests.tasks.surprise.scoring.tiny import chat_tokenizer, qwen3

_TURN = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.role == 'assistant' and loop.last %}THOUGHT{{ ANSWER }}{% else %}{{ message.content }}{% endif %}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}READY{% endif %}{% endif %}"
)
_EMPTY = "<think>\n\n</think>\n\n"


def template(*, thought: str = "", ready: str = "", answer: str = "message.content") -> str:
    return _TURN.replace("THOUGHT", thought).replace("READY", ready).replace("ANSWER", answer)


PLAIN = template()
# What Qwen3's does: the last answer gets an empty thought, line breaks before it go, and so does all before </think>.
QWEN3 = template(thought=_EMPTY, ready=_EMPTY, answer="message.content.split('</think>')[-1].lstrip('\\n')")
READY_ALONE = template(ready=_EMPTY)  # an empty thought before an answer that is asked for, none before one given


def chat(id_: str, text: str, answer: str) -> Chat:
    return Chat(
        id_,
        (
            {"role": "system", "content": "You clean texts."},
            {"role": "user", "content": text},
            {"role": "assistant", "content": answer},
        ),
    )


def save_tiny(folder: Path, chat_template: str = QWEN3) -> PreTrainedTokenizerFast:
    """Write a tiny random Qwen3 with its tokenizer."""
    tokenizer = chat_tokenizer(chat_template)
    qwen3().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer
