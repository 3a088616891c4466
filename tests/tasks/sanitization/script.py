"""A model that sanitizes as it is told, for tests: what it reads is in the prompt, and nothing else is known to it."""

import re
from collections.abc import Callable, Mapping, Sequence

import orjson

from infra.llm.types import Reply, Request
from tests.tasks.synthesis.script import Answer

QUOTED = re.compile(r"<text ([0-9a-f]{8})>\n(.*?)\n</text \1>", re.DOTALL)
FACT = re.compile(r"^[a-z_0-9]+: (.+)$", re.MULTILINE)
SPAN = re.compile(r"^- (.+)$", re.MULTILINE)

GENERAL = "someone"
Special = Mapping[str, Sequence[Answer]]


def honest(request: Request) -> str:
    """Answer a step of sanitization well."""
    prompt = request.messages[1].content
    chunks = [text for _, text in QUOTED.findall(prompt)]
    rest = QUOTED.sub("", prompt)
    values = FACT.findall(rest)
    match request.tags["step"].partition("-")[0]:
        case "weights":
            return to_json(dict.fromkeys(re.findall(r"^([a-z_0-9]+): ", rest, re.MULTILINE), 5))
        case "relevant":
            return to_json({"parts": [n for n, text in enumerate(chunks, 1) if any(value in text for value in values)]})
        case "spans":
            return to_json({"spans": [value for value in values if value in chunks[0]]})
        case "abstraction":
            return to_json({"instruction": f'Put "{GENERAL}" wherever this stands.'})
        case "apply":
            text = chunks[0]
            for span in SPAN.findall(rest):
                text = text.replace(span, GENERAL)
            return to_json({"edited": text})
        case "replace":
            numbers = re.findall(r"^(\d+)\. ", rest, re.MULTILINE)
            return to_json(dict.fromkeys(numbers, GENERAL))
        case "request":
            return to_json({"instruction": "Please hide the things we spoke of and leave everything else as it is."})
        case step:
            raise AssertionError(f"no answer for {step}")


def scripted(special: Special) -> Callable[[Request], Answer]:
    """Answer the n-th attempt at a step with the n-th of its answers, and honestly where none is listed."""

    def answer(request: Request) -> Reply | Exception | str:
        listed = special.get(request.tags["step"], ())
        attempt = int(request.tags["attempt"])
        return listed[attempt] if attempt < len(listed) else honest(request)

    return answer


def to_json(value: object) -> str:
    return orjson.dumps(value).decode()
