"""Signs that a text is a model's slip and no record; each finder says in a sentence what it saw, or returns None."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

# No alternative begins with \b: a fixed first character lets the engine skip through the text.
_REASONING = re.compile(
    r"""</?(?:think|thinking|thought|reasoning|reflection|scratchpad)> | ◁/?think▷ | \[/?THINK\]
      | <\|(?:channel|message|start|end|return|call|constrain)\|>
      | assistant(?:analysis|final|commentary)\b
      | [Aa]s\ an\ AI\ (?:language\ )?(?:model|assistant),?\ I\b
    """,
    re.VERBOSE,
)
_THINKING_ALOUD = re.compile(
    r"""analysis(?-i:[A-Z])
      | (?:okay|ok|alright|hmm|so|well|first)[,.]?\ (?:so,?\ )?
        (?:the\ user\b|(?:i|we)\ need\ to\ (?:write|create|generate|draft|produce|revise)\b|let['’]s\ (?:write|draft)\b)
      | we\ (?:need|have)\ to\ (?:write|create|generate|draft|produce|output|revise)\ (?:an?|the)\b[^.\n]{0,40}
        \b(?:letter|document|record|text|e-?mail|note|report|message|transcript|form|log)\b
      | the\ user\ (?:wants|asks|asked|is\ asking|would\ like)\ (?:me|us|for)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHAT_TOKEN = re.compile(
    r"""<\|[a-z][a-z0-9_]{1,30}\|> | <｜[^｜\n]{1,30}｜> | \[/?INST\] | <</?SYS>> | <(?:start|end)_of_turn> | </s>
      | ^\#{2,3}\ (?:Instruction|Response|Human|Assistant):?[ \t]*$
    """,
    re.VERBOSE | re.MULTILINE,
)
_ROLE = re.compile(r"^[*#\s]{0,6}(user|human|assistant|ai)[*\s]{0,4}:[* ]*(.*)$", re.MULTILINE | re.IGNORECASE)
_SCAFFOLD_TURNS = 2  # one question and one answer around a record; a record that is a chat has more
_COMMENTARY = re.compile(
    r"""\b(?:let\ me\ know|feel\ free\ to\ ask)\b[^.!?\n]{0,40}\b(?:chang|adjust|revis|modif|tweak|edit)
      | \bi\ hope\ this\ (?:letter|document|text|record|draft|version|revision)\ (?:meets|fits|matches|helps|captures)
      | \b(?:this|the\ above)\ (?:\w+\ )?(?:letter|document|text|record|example)\ (?:is|are)
        \ (?:\w+\ )?(?:fictional|fictitious|made\ up)\b
      | \bthis\ is\ an?\ (?:\w+\ )?(?:fictional|fictitious)\ (?:letter|document|text|record|example)\b
      | \ball\ (?:the\ )?(?:names|details|persons|people|information)[^.!?\n]{0,40}\b(?:fictional|fictitious|made\ up)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ENDS = 300  # characters at either end, where a model comments on what it wrote


def leaked_reasoning(text: str) -> str | None:
    """Find a think block, harmony channels, or a model that speaks to itself of its task."""
    found = _THINKING_ALOUD.match(text) or _REASONING.search(text)
    return f"reasoning is left in the text: {_shown(found[0])}" if found else None


def chat_markup(text: str) -> str | None:
    """Find a chat template's control tokens, or a question and an answer around what should be a record."""
    if found := _CHAT_TOKEN.search(text):
        return f"chat markup is left in the text: {_shown(found[0])}"
    turns = _ROLE.findall(text)
    roles = [role.lower() for role, _ in turns]
    answered = "assistant" in roles and ("user" in roles or "human" in roles)
    opened = _ROLE.match(text) is not None and roles[0] == "assistant" and turns[0][1] == ""
    if (answered and len(turns) <= _SCAFFOLD_TURNS) or opened:
        return f"chat markup is left in the text: {' and '.join(f'{role}:' for role, _ in turns)}"
    return None


def commentary(text: str) -> str | None:
    """Find a model's remark on its own text before or after it."""
    found = _COMMENTARY.search(text[:_ENDS]) or _COMMENTARY.search(text[-_ENDS:])
    return f"a comment on the text stands in it: {_shown(found[0])}" if found else None


# --- cut off ---

_SENTENCE_MARKS = ".!?…。！？؟।"
_PUNCTUATED = 0.7  # share of a text's longer paragraphs that end in a mark, above which its writer is one who sets them
_LONG_LINE = 8  # words, or a quarter of the characters where words are not spaced


def cut_off(text: str) -> str | None:
    """Find an end in mid-sentence: a long last line of running words without a mark, in a text that sets marks."""
    paragraphs = re.split(r"\n\s*\n" if "\n\n" in text else r"\n", text.strip())
    ends = [paragraph.rsplit("\n", 1)[-1].strip() for paragraph in paragraphs]
    last = ends.pop()
    if not _stops_midway(last):
        return None
    longer = [end for paragraph, end in zip(paragraphs, ends, strict=False) if _is_long(paragraph)]
    marked = sum(end.rstrip("\"'”’»」)*_")[-1:] in (*_SENTENCE_MARKS, ":") for end in longer)
    sets_marks = bool(longer) or any(mark in last for mark in _SENTENCE_MARKS)
    if sets_marks and marked >= _PUNCTUATED * len(longer):
        return f"the text ends in mid-sentence: ... {last[-40:]}"
    return None


def _is_long(line: str) -> bool:
    return len(line.split()) >= _LONG_LINE or (not line.isascii() and len(line) >= 4 * _LONG_LINE)


def _stops_midway(line: str) -> bool:
    if not _is_long(line):
        return False
    words = line.split()
    if line[-1] in ",，、;；(（-–—":
        return True
    running = sum(word[0].islower() for word in words)
    return words[-1].isalpha() and words[-1].islower() and running >= 0.6 * len(words)


# --- repetition ---

_PHRASE = 8  # words
_PHRASE_TIMES = 4
_PHRASES_SHARE = 0.2  # of all words, within such phrases: a log may say the same of four visits and much else
_LINE_TIMES = 8
_LINES_SHARE = 0.3
_WINDOW, _WINDOW_DISTINCT = 100, 14  # words; ordinary prose has 60 or more distinct ones among 100
_STUTTER = re.compile(r"([^\W\d_]{1,8}?)\1{15,}")
_LONG_WORD = 16  # characters: fewer cannot hold sixteen times the same


def repetition(text: str, words: Sequence[str]) -> str | None:
    """Find a loop: of a phrase, of a line, of few words, or within one word.

    Args:
        text: the record.
        words: its words, as ``tasks.diversity.words.words`` cuts them.
    """
    folded = [word.casefold() for word in words]
    lettered = [word for word in folded if not word.isdecimal()]  # a loop may count: "1. yes 2. yes 3. yes"
    return _looping_phrase(folded) or _looping_line(text) or _few_words(lettered) or _stutter(lettered)


def _looping_phrase(words: Sequence[str]) -> str | None:
    counts = Counter(_windows(words, _PHRASE))
    times = max(counts.values(), default=0)
    if times < _PHRASE_TIMES:
        return None
    starts = [place for place, phrase in enumerate(_windows(words, _PHRASE)) if counts[phrase] >= _PHRASE_TIMES]
    covered = {place + step for place in starts for step in range(_PHRASE)}
    return f"{times} times the same {_PHRASE} words" if len(covered) >= _PHRASES_SHARE * len(words) else None


def _looping_line(text: str) -> str | None:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    counts = Counter(line for line in lines if len(line.split()) > 2 and any(char.isalpha() for char in line))
    if not counts:
        return None
    times = max(counts.values())
    return f"{times} times the same line" if times >= max(_LINE_TIMES, _LINES_SHARE * len(lines)) else None


def _few_words(words: Sequence[str]) -> str | None:
    for start in range(0, len(words) - _WINDOW + 1, _WINDOW // 2):
        distinct = len(set(words[start : start + _WINDOW]))
        if distinct < _WINDOW_DISTINCT:
            return f"only {distinct} different words among {_WINDOW}"
    return None


def _stutter(words: Sequence[str]) -> str | None:
    found = next(filter(None, (_STUTTER.search(word) for word in words if len(word) >= _LONG_WORD)), None)
    return f"{len(found[0]) // len(found[1])} times {found[1]} in one word" if found else None


def _windows(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(islice(words, start, None) for start in range(size)), strict=False)


def _shown(found: str) -> str:
    return " ".join(found.split())[:60]
