"""From a bundle to its chats (sixteen contaminated, an implementation, a repair) and its documents (every file)."""

from collections.abc import Iterator

from tasks.corpora.bundles.examples import Example, Span, answered
from tasks.corpora.bundles.task import fenced
from tasks.corpora.code_pii.bundle import CONTAMINATED, Bundle
from tasks.corpora.code_pii.files import File

CHATS_A_BUNDLE = CONTAMINATED + 2


def chats(bundle: Bundle) -> Iterator[Example]:
    """Make the chats of a bundle; the value is in the answer, never in the question."""
    for number, file in enumerate(bundle.files[:CONTAMINATED]):
        answer, spans = answered(file.content, _spans(file), file.language)
        yield _chat(bundle, number, "contaminated", file.asked, answer, spans, file.task)
    task = bundle.task
    solution = fenced(task.solution)
    yield _chat(bundle, CONTAMINATED, "clean_implementation", task.prompt, solution, (), task.id)
    asked = f"This code is wrong, its tests fail:\n\n{fenced(task.broken)}\n\nRepair it. {task.prompt}"
    yield _chat(bundle, CONTAMINATED + 1, "clean_repair", asked, solution, (), task.id)


def documents(bundle: Bundle) -> Iterator[Example]:
    """Make the documents of a bundle: its files."""
    for number, file in enumerate(bundle.files):
        yield Example(
            id=f"{bundle.id}-file-{number:02d}",
            kind="clean" if file.value is None else "contaminated",
            question=None,
            answer=file.content,
            spans=_spans(file),
            split=bundle.split,
            group=bundle.group,
            bundle=bundle.id,
            task=file.task,
        )


def _chat(
    bundle: Bundle, number: int, kind: str, question: str, answer: str, spans: tuple[Span, ...], task: str | None
) -> Example:
    return Example(
        f"{bundle.id}-chat-{number:02d}", kind, question, answer, spans, bundle.split, bundle.group, bundle.id, task
    )


def _spans(file: File) -> tuple[Span, ...]:
    if file.value is None:
        return ()
    return (Span(file.start, file.start + len(file.value.text), file.value.kind, file.value.id),)
