"""An evaluator that answers from the prompt alone, as it is told, and what it judges."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from infra.llm.fake import FakeBackend
from infra.llm.types import Request
from tasks.ask import Asker
from tasks.evaluation.case import Case, Fact
from tasks.events import MemoryLog
from tasks.synthesis.attributes import Attribute
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.grounding import find_spans
from tests.tasks.sanitization.script import QUOTED, to_json
from tests.tasks.synthesis.script import Answer

TEXT = "Ana Lima of Porto, aged 40, takes ibuprofen. Her sister Marta drove. Paid: 5 euros."
FACTS = {"name": "Ana Lima", "city": "Porto", "medicine": "ibuprofen", "sister": "Marta", "visits": "5"}


def reader(request: Request) -> str:
    """Guess a fact of ``FACTS`` where its value stands in the text; of two guesses, prefer the longer match."""
    step = request.tags["step"]
    prompt = request.messages[1].content
    quoted = [text for _, text in QUOTED.findall(prompt)]
    match step.partition("-")[0]:
        case "guess" | "original":
            name = prompt.split("What is this fact of it: ")[1].split("?\n")[0].replace(" ", "_")
            return to_json({"guess": FACTS[name] if FACTS[name] in quoted[0] else "somebody or something"})
        case "closer" | "second":
            truth = line(prompt, "The truth: ")
            guesses = {letter: line(prompt, f"Guess {letter}: ") for letter in "AB"}
            right = [letter for letter, guess in guesses.items() if guess == truth]
            return to_json({"closer": right[0] if len(right) == 1 else "equal"})
        case "present":
            return to_json({"present": line(prompt, "Its value: ").casefold() in quoted[0].casefold()})
        case _:
            raise AssertionError(f"no answer for {step}")


def line(prompt: str, opening: str) -> str:
    return next(each.removeprefix(opening) for each in prompt.splitlines() if each.startswith(opening))


def answers(by_kind: Mapping[str, Sequence[Answer] | Answer]) -> Callable[[Request], Answer]:
    """Answer by the kind of step, the n-th attempt with the n-th answer of a list."""

    def answer(request: Request) -> Answer:
        found = by_kind[request.tags["step"].partition("-")[0]]
        return found[int(request.tags["attempt"])] if isinstance(found, list | tuple) else found  # type: ignore[return-value]

    return answer


def asker(answer: Callable[[Request], Answer] = reader, record_id: str = "r-1") -> tuple[Asker, FakeBackend]:
    backend = FakeBackend(answer)
    return Asker(record_id, 7, backend, MemoryLog()), backend


def model(answer: Callable[[Request], Answer] = reader, name: str = "judge") -> MixedModel:
    return MixedModel(FakeBackend(answer, name), 1.0, lambda usage: 0.001 * usage.completion)


def fact(key: str) -> Fact:
    return Fact(key, FACTS[key], 0)


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def case(targets: Sequence[str] = ("name", "medicine"), retained: Sequence[str] = ("sister",), **changes: Any) -> Case:
    facts: dict[str, Any] = {
        "record_id": "r-00000007-00000000",
        "index": 0,
        "language": "English",
        "domain": "Health & Wellness",
        "text": TEXT,
        "instruction": "Hide who it is and what she takes; keep the sister.",
        "by_pipeline": "Somebody of Porto, aged 40, takes a medicine. Her sister Marta drove. Paid: 5 euros.",
        "attributes": tuple(Attribute(k, v, "text", tuple(find_spans(TEXT, v))) for k, v in FACTS.items()),
        "targets": tuple(Fact(key, FACTS[key], number) for number, key in enumerate(targets)),
        "retained": tuple(Fact(key, FACTS[key]) for key in retained),
    }
    return Case(**facts | changes)
