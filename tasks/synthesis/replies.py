"""What a model returned, made usable or refused with a reason that the model can be shown."""

import re
from typing import Any

from infra.llm.types import JsonSchema, Reply
from tasks.synthesis.degenerate import chat_markup, leaked_reasoning
from tasks.synthesis.json_values import find_json
from tasks.synthesis.refusals import is_refusal
from tasks.synthesis.schema_check import schema_errors
from tasks.synthesis.unusable import ReplyCutOff, ReplyEmpty, ReplyInvalid, ReplyLeaked, ReplyRefused


def check_complete(reply: Reply) -> None:
    """Refuse a reply that was cut off, filtered or empty, before anybody looks for a meaning in it.

    Raises:
        ReplyCutOff: the token limit ended it.
        ReplyRefused: the provider's content filter ended it.
        ReplyEmpty: nothing but white space.
    """
    if reply.finish_reason == "length":
        raise ReplyCutOff(f"cut off by the token limit after {reply.usage.completion} tokens: write less")
    if reply.finish_reason == "content_filter":
        raise ReplyRefused("stopped by the provider's content filter")
    if not reply.text.strip("\ufeff\0 \t\r\n"):
        raise ReplyEmpty("the reply is empty")


def parse_json(text: str, schema: JsonSchema) -> Any:  # noqa: ANN401 - its type is the schema
    """Return the one object or array in a reply: bare, in a fence, or with sentences around it.

    Nothing is bent to fit: no number is made of a string, and of two values that both fit neither is chosen.

    Raises:
        ReplyUnusable: no JSON, broken JSON, a refusal, several answers, or not as the schema asks. The message can be
            shown to the model as its error; ``reason`` tells a refusal from an invalid reply.
    """
    values = find_json(text)
    if not values:
        if is_refusal(text):
            raise ReplyRefused("the reply refuses the task; the people and facts in it are invented")
        raise ReplyInvalid("no JSON found: answer with the JSON alone")
    errors = {canonical: schema_errors(value, schema) for canonical, value in values.items()}
    fitting = [value for canonical, value in values.items() if not errors[canonical]]
    if len(fitting) > 1:
        raise ReplyInvalid(f"{len(fitting)} different JSON values that all fit: answer with exactly one")
    if not fitting:
        raise ReplyInvalid("; ".join(errors[max(values, key=len)]))
    return fitting[0]


def check_free_text(reply: Reply) -> str:
    r"""Return the text that a reply holds: line ends as ``\n``, no NUL, no wrapping fence, no ``Here is the letter:``.

    Raises:
        ReplyUnusable: cut off, empty, refused, half a surrogate pair, or reasoning or chat markup left in; its
            ``reason`` says which.
    """
    check_complete(reply)
    text = _unwrapped(_normalised(reply.text))
    if not text:
        raise ReplyEmpty("the reply is an empty code block")
    if is_refusal(text):
        raise ReplyRefused("the reply refuses the task; the people and facts in it are invented")
    if leak := leaked_reasoning(text) or chat_markup(text):
        raise ReplyLeaked(leak)
    return text


def _normalised(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ReplyInvalid(f"half a surrogate pair at character {error.start}: write the character whole") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").lstrip("\ufeff").strip()


_WORKS = "letter|e-?mail|message|text|record|document|draft|version|revision|note|memo|report|form|transcript|entry"
_ANNOUNCEMENT = re.compile(
    rf"""\A\**(?:
          (?:(?:sure|certainly|of\ course|absolutely)\b[^\n:]{{0,20}}\s)?
          (?:here\ is|here['’]s|below\ is)\s[^\n:]{{0,100}}\b(?:{_WORKS})\b[^\n:]{{0,100}}
        | hier\ ist\s[^\n:]{{0,60}}\b(?:brief|text|e-mail|nachricht|entwurf|fassung|dokument)\b[^\n:]{{0,60}}
        | voici\s[^\n:]{{0,60}}\b(?:lettre|texte|e-?mail|message|version|document|brouillon)\b[^\n:]{{0,60}}
        | aquí\s(?:está|tienes|tiene)\s[^\n:]{{0,60}}\b(?:carta|texto|correo|mensaje|versión|documento)\b[^\n:]{{0,60}}
        | (?:以下是|这是|下面是)[^\n:：]{{0,40}}(?:信|文本|邮件|记录|版本|内容|草稿|文件)[^\n:：]{{0,10}}
        | (?:다음은|아래는)[^\n:：]{{0,60}}(?:입니다|같습니다)
    )\s?[:：]\**[ \t]*\n\s*(?=\S)""",
    re.IGNORECASE | re.VERBOSE,
)
_QUOTATION_MARKS = re.compile(r"\A<text [0-9a-f]{8}>\s*|\s*</text [0-9a-f]{8}>\Z")  # as tasks.prompts writes
_FENCED = re.compile(r"\A```[\w-]*\n(?P<body>.*?)\n?```\Z", re.DOTALL)


def _unwrapped(text: str) -> str:
    """Take off one line that announces the text, our own quotation marks, then one fence around all that is left."""
    text = _QUOTATION_MARKS.sub("", _ANNOUNCEMENT.sub("", text, count=1))
    fenced = _FENCED.match(text)
    return fenced["body"].strip() if fenced and "```" not in fenced["body"] else text
