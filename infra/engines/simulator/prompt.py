"""What a prompt gives its answer: facts to weave in, quoted texts, a list, a language, a length."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from infra.engines.simulator.languages import STOCKS

_FENCE = re.compile(r"<text ([0-9a-f]+)>\n(.*?)\n</text \1>", re.DOTALL)
# Prompts write data in lower case; a line that begins with a capital is a heading or an instruction ...
_FACT = re.compile(r"^([a-z][a-z0-9_ ]{1,40}): +(\S.{0,118})$", re.MULTILINE)
# ... but not inside a quoted text, where forms and letters have lines such as "Policy number: 17".
_FACT_IN_TEXT = re.compile(r"^([A-Za-z][A-Za-z0-9_ ]{1,40}): +(\S.{0,118})$", re.MULTILINE)
_ITEM = re.compile(r"^- (\S.*)$", re.MULTILINE)
_SAID = re.compile(r"[\"“]([^\"“”\n]{1,80})[\"”]")
_LANGUAGE = re.compile(rf"\bin (?:Mandarin )?({'|'.join(STOCKS)})\b")
_LENGTH = re.compile(r"\b([0-9]{2,4}) words\b")

_EMAIL = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_START = re.compile(
    r"(?<![A-Za-z0-9.,])[A-Z0-9$€£+]"
)  # where a phrase may begin: finding these first is ten times faster
_PHRASE = re.compile(
    r"""(?P<date>\d{4}-\d\d-\d\d | \d{1,2}\ [A-Z][a-z]{2,8}\ \d{4} | [A-Z][a-z]{2,8}\ \d{1,2},\ \d{4}
               | \d{4}\s?[년年]\s?\d{1,2}\s?[월月]\s?\d{1,2}\s?[일日])
      | (?P<time>\d{1,2}:\d\d\b)
      | (?P<amount>[$€£]\s?\d[\d,.]*\d | \d[\d,.]*\s?(?:EUR|USD|€|원|元))
      | (?P<phone>\+\d[\d -]{6,16}\d)
      | (?P<reference>[A-Z]{1,4}-?\d{3,}(?:-\d+)*\b | \d{5,}\b)
      | (?P<address>\d{1,4}\ [A-Z][a-z]+\ [A-Z][a-z]+\b)
      | (?P<name>(?!(?:At|Dear|For|From|In|My|On|Since|The|To|We)\b)[A-Z][a-z'’]+(?:\ [A-Z][a-z'’]+)+)
      | (?P<number>\d{1,4}\b)
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")  # in any script


@dataclass(frozen=True, slots=True)
class Brief:
    """A prompt, read.

    Attributes:
        facts: the ``key: value`` lines, keys in lower case with underscores.
        quoted: the longest fenced text, or "".
        language: the language asked for by ``in Korean`` and the like, one of those in stock; else English.
        words: the length asked for, if one is.
        texts: all fenced texts, in order.
        asked: the facts outside of them.
        listed: the items of lists, one a line after a dash.
        said: what stands in quotation marks, outside of texts and lists.
    """

    facts: dict[str, str] = field(default_factory=dict)
    quoted: str = ""
    language: str = "English"
    words: int | None = None
    texts: tuple[str, ...] = ()
    asked: dict[str, str] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def read_prompt(turns: Iterable[str]) -> Brief:
    """Read the user's turns of a conversation."""
    prompt = "\n".join(turns)
    texts: tuple[str, ...] = ()
    if "<text " in prompt:
        texts = tuple(text for _, text in _FENCE.findall(prompt))
        prompt = _FENCE.sub("", prompt)
    told = {normal(key): value.strip() for text in texts for key, value in _FACT_IN_TEXT.findall(text)}
    asked = {normal(key): value.strip() for key, value in _FACT.findall(prompt)}
    languages, lengths = _LANGUAGE.findall(prompt), _LENGTH.findall(prompt)
    return Brief(
        facts=told | asked,
        quoted=max(texts, key=len, default=""),
        language=languages[-1] if languages else "English",
        words=int(lengths[-1]) if lengths else None,
        texts=texts,
        asked=asked,
        listed=tuple(_ITEM.findall(prompt)),
        said=tuple(_SAID.findall(_ITEM.sub("", prompt))),
    )


def normal(key: str) -> str:
    """Write a key the way property names are written."""
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def phrases(text: str) -> dict[str, str]:
    """Find what a reader would call facts, ``{phrase: kind}``, each phrase just as the text has it."""
    found = dict.fromkeys(_EMAIL.findall(text), "email") if "@" in text else {}
    end = 0
    for start in _START.finditer(text):
        if start.start() >= end and (match := _PHRASE.match(text, start.start())):
            found.setdefault(match[0], str(match.lastgroup))
            end = match.end()
    return found


def words(text: str) -> list[str]:
    """Find the words of a text, each once, in any script."""
    return list(dict.fromkeys(_WORD.findall(text)))
