"""The rows of both corpora (``docs/corpora.md``): chats to fine-tune on and documents to pretrain on, with spans."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from tasks.corpora.bundles.pool import Split
from tasks.corpora.bundles.task import CodeTask, fenced

_LABEL = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("category", pa.string())])
_MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string()), ("labels", pa.list_(_LABEL))])
_SPAN = pa.struct(
    [("message", pa.int64()), ("start", pa.int64()), ("end", pa.int64()), ("kind", pa.string()), ("value", pa.string())]
)
_COMMON = [
    pa.field("labelled", pa.bool_(), nullable=False),
    pa.field("spans", pa.list_(_SPAN), nullable=False),
    pa.field("group", pa.string()),  # none in development
    pa.field("split", pa.string(), nullable=False),
    pa.field("bundle", pa.string()),
    pa.field("task", pa.string()),
]
_NAMES = [pa.field("id", pa.string(), nullable=False), pa.field("kind", pa.string(), nullable=False)]
CHATS = pa.schema([*_NAMES, pa.field("messages", pa.list_(_MESSAGE), nullable=False), *_COMMON])
DOCUMENTS = pa.schema(
    [
        *_NAMES,
        pa.field("text", pa.string(), nullable=False),
        pa.field("labels", pa.list_(_LABEL), nullable=False),
        *_COMMON,
    ]
)
TASKS_FILE = "tasks.parquet"
TASKS = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("id", "task", "prompt", "gold", "tests")])


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of an example's answer, or of its text.

    Attributes:
        start: first character, in code points.
        end: one after the last.
        kind: category of the label.
        value: id of the private value; None for a habit.
    """

    start: int
    end: int
    kind: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One chat of a question and an answer, or (``question`` None) one document.

    Attributes:
        id: unique in its corpus.
        kind: see ``docs/corpora.md``.
        question: the user's message.
        answer: the assistant's message, or the document.
        spans: of the answer, in order.
        split: train, calibration, development.
        group: identity or user.
        bundle: that it is from.
        task: that it solves.
    """

    id: str
    kind: str
    question: str | None
    answer: str
    spans: tuple[Span, ...]
    split: Split
    group: str | None = None
    bundle: str | None = None
    task: str | None = None

    def row(self) -> dict[str, Any]:
        """Return the row of ``CHATS`` or of ``DOCUMENTS``."""
        labels = [{"start": span.start, "end": span.end, "category": span.kind} for span in self.spans]
        if self.question is None:
            content: dict[str, Any] = {"text": self.answer, "labels": labels}
        else:
            asked = {"role": "user", "content": self.question, "labels": []}
            content = {"messages": [asked, {"role": "assistant", "content": self.answer, "labels": labels}]}
        turn = 0 if self.question is None else 1
        spans = [
            {"message": turn, "start": span.start, "end": span.end, "kind": span.kind, "value": span.value}
            for span in self.spans
        ]
        return {
            "id": self.id, "kind": self.kind, **content, "labelled": True, "spans": spans, "group": self.group,
            "split": self.split, "bundle": self.bundle, "task": self.task,
        }  # fmt: skip


def answered(code: str, spans: Iterable[Span], language: str = "python") -> tuple[str, tuple[Span, ...]]:
    """Write code as an answer, its spans moved along."""
    answer = fenced(code, language)
    shift = answer.index("\n") + 1
    return answer, tuple(Span(span.start + shift, span.end + shift, span.kind, span.value) for span in spans)


def gold(task: CodeTask, wording: Literal["prompt", "rephrased"], *, chat: bool) -> Example:
    """Return the clean answer to a task of the development split."""
    prompt, number = (task.prompt, 0) if wording == "prompt" else (task.rephrased, 1)
    return Example(
        id=f"development-{task.id}-{number}" if chat else f"development-{task.id}",
        kind="gold",
        question=prompt if chat else None,
        answer=fenced(task.solution) if chat else task.solution,
        spans=(),
        split="development",
        task=task.id,
    )


def task_row(task: CodeTask, example: Example) -> dict[str, str]:
    """Return the row of ``TASKS`` for a chat of the development split."""
    if example.question is None:
        raise ValueError(f"{example.id} is a document: a prompt with tests is made of a chat")
    return {
        "id": example.id, "task": task.id, "prompt": example.question, "gold": example.answer, "tests": task.tests,
    }  # fmt: skip
