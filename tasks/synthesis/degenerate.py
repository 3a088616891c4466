"""Signs that a text is no record but a model's slip; each finder returns one sentence on what it saw, or None."""

import re

_REASONING = re.compile(
    r"""(?P<mark>
        </?(?:think|thinking|thought|reasoning|reflection|scratchpad|analysis)>
      | ◁/?think▷ | \[/?(?:THINK|REASONING)\]
      | <\|(?:channel|message|start|end|return|call|constrain)\|>
      | \bassistant(?:analysis|final|commentary)\b | \Aanalysis(?=[A-Z])
    )""",
    re.VERBOSE,
)
_CHAT_MARKUP = re.compile(
    r"""(?P<mark>
        <\|[a-z][a-z0-9_]{1,30}\|>
      | \[/?INST\] | <</?SYS>> | </?s>(?=\s|\Z|\[) | <(?:start|end)_of_turn> | <｜[^｜\n]{1,30}｜>
      | ^\#{2,3}\ (?:Instruction|Response|Human|Assistant|System\ prompt):?\s*$
    )""",
    re.VERBOSE | re.MULTILINE,
)


def leaked_reasoning(text: str) -> str | None:
    """Find a think block, harmony channel markers, or an assistant that talks about itself."""
    found = _REASONING.search(text)
    return f"reasoning is left in the text: {found['mark']}" if found else None


def chat_markup(text: str) -> str | None:
    """Find the control tokens of a chat template."""
    found = _CHAT_MARKUP.search(text)
    return f"chat markup is left in the text: {found['mark']}" if found else None
