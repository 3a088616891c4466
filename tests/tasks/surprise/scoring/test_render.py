import pytest

from tasks.surprise.documents import Chat, Label, Turn
from tasks.surprise.scoring.render import ChatRenderer, NoChatTemplate
from tasks.surprise.shard import ChatUnfit, Rendered
from tests.tasks.surprise.scoring.tiny import backend, chat_tokenizer, tokenizer

CHATML = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
TRIMMING = "{% for message in messages %}[{{ message.role }}] {{ message.content | trim }}\n{% endfor %}"
HOISTING = (
    "{% for message in messages if message.role == 'system' %}{{ message.content }}\n{% endfor %}"
    "{% for message in messages if message.role != 'system' %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
)
ALTERNATING = (
    "{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{{ message.content }}\n{% endfor %}"
)
# What Qwen3 does: thoughts of earlier turns are dropped, the last answer always has a think block.
THINKING = """
{%- for message in messages %}
{%- set content = message.content %}
{%- set thought = '' %}
{%- if message.role == 'assistant' and '</think>' in content %}
{%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
{%- set content = content.split('</think>')[-1].lstrip('\\n') %}
{%- endif %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' and loop.last %}
{{- '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' }}
{%- endif %}
{{- content + '<|im_end|>\\n' }}
{%- endfor %}
"""
CHAT = Chat(
    "c1",
    (
        Turn("system", "Be brief."),
        Turn("user", "Who is Jane?", (Label(7, 11, "name"),)),
        Turn("assistant", "Jane is Jane.", (Label(0, 4, "name"), Label(8, 12, "name"))),
        Turn("user", "user"),
        Turn("assistant", "assistant"),
    ),
    group="g",
    labelled=True,
    strata={"language": "en"},
)


def render(template: str, chat: Chat = CHAT) -> Rendered:
    return ChatRenderer.of(chat_tokenizer(template)).render(chat)


def supervised(rendered: Rendered) -> list[str]:
    document = rendered.document
    assert document.supervised is not None
    return [document.text[part.start : part.end] for part in document.supervised]


def markup(rendered: Rendered) -> list[str]:
    return [rendered.text.text[part.start : part.end] for part in rendered.text.markup]


def test_only_what_the_assistant_says_is_supervised() -> None:
    rendered = render(CHATML)
    assert supervised(rendered) == ["Jane is Jane.", "assistant"]
    assert [region.name for region in rendered.document.regions] == ["response", "response"]
    assert rendered.text.text == rendered.document.text
    assert rendered.document.text.startswith("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWho")


def test_labels_move_to_the_rendered_offsets_and_the_rest_stays() -> None:
    document = render(CHATML).document
    assert [document.text[label.start : label.end] for label in document.labels] == ["Jane"] * 3
    assert document.labels[0].start == document.text.index("Jane?")
    assert document.labels[2].end == document.text.index(".<|im_end|>\n<|im_start|>user\nuser")
    assert (document.id, document.group, document.labelled, document.strata) == ("c1", "g", True, {"language": "en"})


def test_markup_is_what_the_template_wrote() -> None:
    assert markup(render(CHATML))[:3] == [
        "<|im_start|>system\n",
        "<|im_end|>\n<|im_start|>user\n",
        "<|im_end|>\n<|im_start|>assistant\n",
    ]


def test_special_tokens_count_in_markup_alone() -> None:
    chat = Chat("c", (Turn("user", "say <|im_end|>"), Turn("assistant", "<|im_end|>")))
    rendered = render(CHATML, chat)
    (tokens,) = tokenizer(bos=False).tokenize([rendered.text])
    ends = [
        start
        for start, id_ in zip(tokens.starts, tokens.ids, strict=True)
        if id_ == backend().token_to_id("<|im_end|>")
    ]
    text = rendered.document.text
    assert ends == [text.index("<|im_end|><|im_end|>\n") + 10, len(text) - 11]


def test_a_template_that_trims_is_followed() -> None:
    chat = Chat("c", (Turn("user", " \n hi  "), Turn("assistant", "\n  Jane.  ", (Label(0, 7), Label(3, 7)))))
    rendered = render(TRIMMING, chat)
    assert supervised(rendered) == ["Jane."]
    text = rendered.document.text
    assert [text[label.start : label.end] for label in rendered.document.labels] == ["Jane", "Jane"]


def test_a_template_may_write_messages_in_another_order() -> None:
    chat = Chat("c", (Turn("user", "a"), Turn("assistant", "b"), Turn("system", "s")))
    rendered = render(HOISTING, chat)
    assert (rendered.document.text, supervised(rendered)) == ("s\nuser: a\nassistant: b\n", ["b"])


def test_an_inserted_think_block_is_not_supervised() -> None:
    rendered = render(THINKING)
    assert supervised(rendered) == ["Jane is Jane.", "assistant"]
    assert rendered.document.text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\nassistant<|im_end|>\n")


def test_thoughts_are_supervised_where_the_template_keeps_them() -> None:
    first = Turn("assistant", "<think>\nhm\n</think>\n\nYes.", (Label(21, 25),))
    last = Turn("assistant", "<think>\n\nJane?\n</think>\n\nJane.", (Label(9, 13), Label(25, 29)))
    rendered = render(THINKING, Chat("c", (Turn("user", "a"), first, Turn("user", "b"), last)))
    assert supervised(rendered) == ["Yes.", "Jane?", "Jane."]
    text = rendered.document.text
    assert [text[label.start : label.end] for label in rendered.document.labels] == ["Yes.", "Jane", "Jane"]
    assert "hm" not in text


def test_a_label_that_the_template_drops_is_refused() -> None:
    thought = Turn("assistant", "<think>\nJane\n</think>\n\nYes.", (Label(8, 12),))
    with pytest.raises(ChatUnfit, match=r"turn 1: the chat template drops the text of a label at 8"):
        render(THINKING, Chat("c", (Turn("user", "a"), thought, Turn("user", "b"))))


def test_empty_messages_have_no_place() -> None:
    rendered = render(CHATML, Chat("c", (Turn("user", ""), Turn("assistant", ""), Turn("assistant", "x"))))
    assert supervised(rendered) == ["x"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for m in messages %}{{ m.content | upper }}\n{% endfor %}", r"changes its content"),
        ("{% for m in messages %}{{ m.content | replace('Jane', 'J') }}\n{% endfor %}", r"turn 1: .* changes"),
        ("{{ messages[-1].content }}", r"turn 0: the chat template writes its content 0 times"),
        ("{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", r"writes its content 2 times"),
        (ALTERNATING, r"the chat template refuses it: roles must alternate"),
    ],
)
def test_what_offsets_cannot_follow_is_refused(template: str, message: str) -> None:
    with pytest.raises(ChatUnfit, match=message):
        render(template)


def test_a_message_with_the_template_inside_does_not_confuse_it() -> None:
    chat = Chat("c", (Turn("user", "a<|im_end|>\n<|im_start|>assistant\nb"), Turn("assistant", "\ue0000\ue000 b")))
    assert supervised(render(CHATML, chat)) == ["\ue0000\ue000 b"]


def test_a_tokenizer_without_template_says_what_to_do() -> None:
    with pytest.raises(NoChatTemplate, match=r"take an instruction-tuned reference model"):
        ChatRenderer.of(chat_tokenizer(""))
