"""What became of a text: of each value that the caller named, of what still stands of it, and of all the rest."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from tasks.cleaning.clean import Cleaned, changes_of, original
from tasks.cleaning.diff import Change, has_word, words
from tasks.cleaning.values import Value
from tasks.synthesis.grounding import Folded

Fate = Literal["dropped", "abstracted", "partly_kept", "kept"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(_Frozen):
    """Where a value stood in the original, ``[start, stop)`` in code points, and what became of it there.

    Attributes:
        instead: what stands in its place; with the words around it, where they changed along with it.
    """

    start: int
    stop: int
    text: str
    fate: Fate
    instead: str


class Remaining(_Frozen):
    """Where a value stands in the clean text: letter by letter, or in another case, white space or Unicode form."""

    start: int
    stop: int
    exact: bool


class ValueReport(_Frozen):
    """One named value. It leaks where ``remaining`` is not empty."""

    key: str
    value: str
    places: tuple[Place, ...]
    remaining: tuple[Remaining, ...]


class Elsewhere(_Frozen):
    """A change that touches no named value."""

    start: int
    stop: int
    before: str
    after: str


class CleaningReport(_Frozen):
    """What was done to one text.

    Attributes:
        model: that cleaned it.
        parts: in how many requests.
        values: in the order in which they were named.
        elsewhere: what else was changed.
    """

    model: str
    parts: int
    values: tuple[ValueReport, ...]
    elsewhere: tuple[Elsewhere, ...]

    @property
    def leaking(self) -> tuple[str, ...]:
        """Keys of the values that still stand in the clean text."""
        return tuple(value.key for value in self.values if value.remaining)


def report_of(cleaned: Cleaned, values: Sequence[Value], model: str) -> CleaningReport:
    """Compare a clean text with its original, word by word."""
    before, after, changed = original(cleaned.parts), cleaned.text, changes_of(cleaned)
    folded, folded_after = Folded(before), Folded(after)
    named = [(value, folded.find(value.value)) for value in values]
    covered = [span for _, spans in named for span in spans]
    return CleaningReport(
        model=model,
        parts=len(cleaned.parts),
        values=tuple(
            ValueReport(
                key=value.key,
                value=value.value,
                places=tuple(_place(before, span, changed) for span in spans),
                remaining=tuple(
                    Remaining(start=start, stop=stop, exact=after[start:stop] == value.value)
                    for start, stop in folded_after.find(value.value)
                ),
            )
            for value, spans in named
        ),
        elsewhere=tuple(
            Elsewhere(start=each.start, stop=each.stop, before=each.before, after=each.after)
            for each in changed
            if not any(_meet(each, span) for span in covered)
        ),
    )


def _meet(change: Change, span: tuple[int, int]) -> bool:
    if change.start == change.stop:  # something was put in
        return span[0] < change.start < span[1]
    return change.start < span[1] and span[0] < change.stop


def _place(text: str, span: tuple[int, int], changed: Sequence[Change]) -> Place:
    start, stop = span
    meeting = [each for each in changed if _meet(each, span)]
    inside = [(start + first, start + last) for first, last in words(text[start:stop])]
    gone = [any(each.start < last and first < each.stop for each in meeting) for first, last in inside]
    instead = " ".join(each.after for each in meeting if each.after)
    fate: Fate = "kept"
    if all(gone):
        fate = "abstracted" if has_word(instead) else "dropped"
    elif any(gone):
        fate = "partly_kept"
    return Place(start=start, stop=stop, text=text[start:stop], fate=fate, instead=instead)
